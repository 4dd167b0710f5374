"""The app: `python app.py [--preset P] [--host H] [--port N] [--dtype D] [--replay FILE]`."""

import logging
from pathlib import Path
from typing import Annotated, Literal

import typer

Dtype = Literal["auto", "float32", "bfloat16"]


def main(
    preset: Annotated[str, typer.Option(help="a name from assets/presets.toml")] = "",
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 7860,
    dtype: Annotated[Dtype, typer.Option(help="auto: bfloat16 where the hardware computes in it")] = "auto",
    replay: Annotated[
        list[Path] | None,
        typer.Option(help="show this recorded trace, without an engine; given again, more of them among the runs"),
    ] = None,
) -> None:
    """Serve the page; the engine loads behind it."""
    import uvicorn

    from dcoco_viz import presets
    from dcoco_viz.page import create
    from dcoco_viz.tabs.engine import Engine
    from dcoco_viz.trace import files

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        runs = files.load(replay[0]) if replay else []
        engine = Engine(None if replay else presets.load(preset or presets.DEFAULT).name, dtype)
    except (files.TraceError, presets.PresetError) as error:
        typer.echo(error, err=True)
        raise typer.Exit(1) from error

    samples = replay[1:] if replay else sorted((presets.ROOT / "assets" / "traces").glob("*.parquet"))
    app = create(engine, runs, samples)
    typer.echo(f"Open http://{host}:{port}")
    uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=3)


if __name__ == "__main__":  # the engine's process imports this file again
    typer.run(main)
