"""`python -m dcoco_viz calibrate`: how likely a drafted slot is to be accepted, for walks with +auto."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from dcoco_viz.presets import DEFAULT


def calibrate(
    traces: Annotated[list[Path] | None, typer.Argument(help="recorded traces; else examples are decoded")] = None,
    preset: Annotated[str, typer.Option(help="whose checkpoints are calibrated")] = DEFAULT,
    max_tokens: Annotated[int, typer.Option(min=16, help="of every prompt decoded")] = 128,
) -> None:
    """Fit acceptance on full records at temperature 0, and write acceptance.json into the checkpoint folders."""
    from dcoco_viz import presets
    from dcoco_viz.engine.session import EngineError
    from dcoco_viz.lab.calibrate import fit
    from dcoco_viz.trace import files

    chosen = presets.load(preset)
    try:
        runs = [run for path in traces or () for run in files.load(path)]
        runs = runs or asyncio.run(_decode(chosen, max_tokens))
        found = fit(runs)
        _write(chosen, found)
    except (EngineError, files.TraceError, OSError, ValueError) as error:
        sys.exit(str(error))
    print(_table(found))


async def _decode(preset, max_tokens: int) -> list:
    """The example prompts by every method that drafts, a batch a prompt: acceptance takes no notice of time."""
    from dcoco_viz import prompts
    from dcoco_viz.engine.session import Session
    from dcoco_viz.methods import METHODS
    from dcoco_viz.trace.schema import Request

    async def one(prompt: str, method: str):
        request = Request(prompt=prompt, method=method, max_tokens=max_tokens)
        return [event async for event in session.generate(request)][-1].run

    session = await Session.start(preset, progress=lambda line: print(line, file=sys.stderr))
    try:
        methods, runs = [name for name in session.methods if METHODS[name].drafter], []
        for number, prompt in enumerate(prompts.examples(), 1):
            print(f"prompt {number} of {len(prompts.examples())}", file=sys.stderr)
            runs += await asyncio.gather(*(one(prompt.text, method) for method in methods))
        return runs
    finally:
        await session.close()


def _write(preset, found: dict) -> None:
    from dcoco_viz.methods import METHODS, checkpoint
    from dcoco_viz.presets import is_local

    for name, place in preset.drafters.items():
        mine = {m: fit._asdict() for m, fit in found.items() if METHODS[m].drafter == name}
        if not mine:
            continue
        if not is_local(place):
            raise ValueError(f"{place} lies on the hub: import it into a folder first, python -m dcoco_viz import.")
        (Path(place) / checkpoint.ACCEPTANCE).write_text(json.dumps(mine, indent=1) + "\n")


def _table(found: dict) -> str:
    lines = ["method            runs   slots  accepted  cross-entropy: fit  draft probability"]
    for name, fit in found.items():
        lines.append(
            f"{name:16}{fit.runs:6}{fit.slots:8}{fit.accepted:10.3f}{fit.loss:20.3f}{fit.loss_draft:19.3f}"
        )
    return "\n".join(lines)
