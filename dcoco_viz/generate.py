"""`python -m dcoco_viz generate`: one prompt through one or more methods, as text or as JSON."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from dcoco_viz.methods import METHODS


def generate(
    method: Annotated[str, typer.Option(help=f"{', '.join(METHODS)}; or several with commas")] = "dcoco",
    prompt: Annotated[str | None, typer.Option(help="the user message")] = None,
    prompt_file: Annotated[Path | None, typer.Option(help="a UTF-8 file that holds the user message")] = None,
    system: Annotated[str, typer.Option(help="the system prompt")] = "",
    raw: Annotated[bool, typer.Option("--raw", help="complete the prompt as it stands, with no chat template")] = False,
    walk: Annotated[
        str,
        typer.Option(
            help="greedy, global-sum, geometric:L or beam:W; then +top:M, +cut:P, +k:N as you like; "
            f"{' and '.join(name for name, way in METHODS.items() if way.serial)}: greedy, with +cut:P or +auto at most"
        ),
    ] = "greedy",
    slots: Annotated[
        str, typer.Option(help="drafted slots submitted in each cycle, 1 to 15; auto: as many as pay, walk +auto")
    ] = "15",
    preset: Annotated[str, typer.Option(help="verifier and drafters, from assets/presets.toml")] = "smollm2-cpu",
    temperature: Annotated[float, typer.Option(help="0 is greedy")] = 0.0,
    seed: Annotated[int, typer.Option(help="for a temperature above 0")] = 0,
    max_tokens: Annotated[int, typer.Option(help="longest output, in tokens")] = 128,
    dtype: Annotated[str, typer.Option(help="auto, bfloat16 or float32")] = "auto",
    trace: Annotated[Path | None, typer.Option(help="save every cycle of every run to this Parquet file")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print a JSON list, one object a method, only")] = False,
) -> None:
    """Decode one prompt with each method in turn, on one engine."""
    from pydantic import ValidationError

    from dcoco_viz import presets
    from dcoco_viz.lattice.walk import check
    from dcoco_viz.trace.schema import Request

    methods = [name.strip() for name in method.split(",")]
    if unknown := [name for name in methods if name not in METHODS]:
        raise typer.BadParameter(f"unknown method {unknown[0]!r}: choose from {', '.join(METHODS)}")
    if (prompt is None) == (prompt_file is None):
        raise typer.BadParameter("give either --prompt or --prompt-file")
    if raw and system:
        raise typer.BadParameter("--raw completes the prompt as it stands: leave out --system")
    if dtype not in ("auto", "bfloat16", "float32"):
        raise typer.BadParameter(f"--dtype is auto, bfloat16 or float32, not {dtype!r}")
    try:
        text = prompt if prompt is not None else prompt_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{prompt_file} cannot be read: {error}") from error
    try:
        walk = check(f"{walk}+auto" if slots == "auto" else walk)
        chosen = presets.load(preset)
        requests = [
            Request(
                prompt=text, system=system, raw=raw, method=name, walk=walk,
                slots=15 if slots == "auto" else slots, temperature=temperature, seed=seed, max_tokens=max_tokens,
                record="full" if trace else "light",
            )
            for name in methods
        ]  # fmt: skip
    except ValidationError as error:
        first = error.errors()[0]
        raise typer.BadParameter(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except ValueError as error:  # PresetError, or an unknown walk
        raise typer.BadParameter(str(error)) from error
    asyncio.run(_run(chosen, dtype, requests, trace, as_json))


async def _run(preset, dtype: str, requests: list, trace: Path | None, as_json: bool) -> None:
    from dcoco_viz.engine.session import EngineError, Session
    from dcoco_viz.trace import files

    def say(line: str) -> None:
        print(line, file=sys.stderr)

    try:
        session = await Session.start(preset, dtype=dtype, progress=say)
    except EngineError as error:
        raise SystemExit(f"{error}") from error
    try:
        runs = []
        await _warm_up(session, requests)
        for request in requests:
            async for event in session.generate(request):
                if not as_json:
                    print(event.text, end="", flush=True)
            runs.append(event.run)
            if not as_json:
                print(f"\n-- {request.method}: {_line(event.run)}\n", flush=True)
    except (EngineError, ValueError) as error:
        raise SystemExit(str(error)) from error
    finally:
        await session.close()
    if as_json:
        print(json.dumps(results(runs), indent=1))
    if trace:
        try:
            files.save(trace, runs)
        except (files.TraceError, OSError) as error:
            raise SystemExit(f"The trace was not saved: {error}") from error


async def _warm_up(session, requests: list) -> None:
    """Decode a few tokens with every method first, so that the first one timed does not pay for cold caches."""
    for request in requests:
        async for _ in session.generate(request.model_copy(update={"max_tokens": 4, "record": "off"})):
            pass


def results(runs: list) -> list[dict[str, Any]]:
    """One JSON-ready object a run; `speedup` is over the first `none` among them."""
    from dcoco_viz.metrics.summary import summary
    from dcoco_viz.metrics.timing import speedup

    plain = next((run for run in runs if run.request.method == "none"), None)
    rows = []
    for run in runs:
        s = summary(run)
        rows.append({
            "text": run.text, "token_ids": run.token_ids, "method": s.method, "walk": s.walk, "slots": s.slots,
            "cycles": s.cycles, "accepted": list(s.accepted), "tau": s.tau, "output_tokens": s.output_tokens,
            "seconds": s.seconds, "tokens_per_second": s.tokens_per_second, "draft_ms": s.draft_ms,
            "head_ms": s.head_ms, "verify_ms": s.verify_ms, "speedup": speedup(run, plain),
            "finish_reason": run.finish_reason, "preset": run.meta["preset"],
            "dtype": run.meta["dtype"], "versions": run.meta["versions"],
        })  # fmt: skip
    return rows


def _line(run) -> str:
    from dcoco_viz.metrics.summary import summary

    s = summary(run)
    tau = "" if s.tau is None else f"tau {s.tau:.2f}, "
    return f"{s.output_tokens} tokens in {s.cycles} cycles, {tau}{s.tokens_per_second or 0:.1f} tok/s"
