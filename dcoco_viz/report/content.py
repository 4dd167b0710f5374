"""What a report says of its runs beside the pictures, as plain data; and the scores that fit into it."""

import json
from collections.abc import Iterator
from typing import Any

from dcoco_viz.components.numbers import column, written
from dcoco_viz.components.runs import title
from dcoco_viz.components.wire import encode
from dcoco_viz.methods import METHODS
from dcoco_viz.metrics.prefix import accepted_histogram
from dcoco_viz.metrics.summary import summary
from dcoco_viz.metrics.timing import speedup
from dcoco_viz.trace.schema import Run

SCORES = 40 * 2**20  # bytes of transition scores in a file at most, as they stand there
NUMBERS = ("tau", "tokens_per_second", "speedup", "cycles", "output_tokens", "seconds", "ttft_s", "draft_ms",
           "head_ms", "verify_ms", "top1", "selected", "oracle")  # fmt: skip
LONG = 300  # characters of a setting that came with the run


def numbers(runs: list[Run]) -> list[dict[str, Any]]:
    """One row a number, with its definition and what it is for every run; rows without any value are left out."""

    def question(run: Run) -> tuple:
        return *run.prompt_ids, *(str(run.meta.get(key)) for key in ("preset", "dtype", "hardware"))

    plain = {question(run): run for run in runs if run.request.method == "none"}
    found = []
    for run in runs:
        known = summary(run)._asdict()
        known["speedup"] = speedup(run, plain.get(question(run)))
        found.append(known)
    rows = [{**column(name), "values": [written(name, known[name]) for known in found]} for name in NUMBERS]
    return [row for row in rows if any(value is not None for value in row["values"])]


def histograms(runs: list[Run]) -> list[list[int]]:
    """By run: how many cycles accepted 0, 1, ... tokens, up to the most that any of them accepted."""
    found = [accepted_histogram(run) for run in runs]
    most = max((int(counts.nonzero()[0].max()) for counts in found if counts.any()), default=-1)
    return [counts[: most + 1].tolist() + [0] * (most + 1 - len(counts)) for counts in found]


def settings(runs: list[Run]) -> list[dict[str, Any]]:
    """One row a setting, what was asked first, then what the run says of its machine: {label, values}."""
    found = [_settings(run) for run in runs]
    labels = dict.fromkeys(label for known in found for label in known)
    return [{"label": label, "values": [known.get(label, "–") for known in found]} for label in labels]


def _settings(run: Run) -> dict[str, str]:
    request, drafts = run.request, run.request.method != "none"
    out = {
        "Method": METHODS[request.method].label if request.method in METHODS else request.method,
        "Walk": request.walk if drafts else "–",
        "Slots": str(request.slots) if drafts else "–",
        "Temperature": str(request.temperature),
        "Seed": str(request.seed),
        "Max tokens": str(request.max_tokens),
        "Stop strings": ", ".join(map(json.dumps, request.stop)) or "none",
        "Prompt format": "raw completion" if request.raw else "chat template",
        "Record level": request.record,
        "Ended by": run.finish_reason or "still decoding",
        "Decoded": run.created,
        "Run": run.id,
    }
    if request.parent:
        place = request.parent
        out["Branch of"] = f"run {place.run}, cycle {place.cycle + 1}, slot {place.slot}, rank {place.rank + 1}"
    for name, value in run.meta.items():
        if not isinstance(value, list):  # those are the engine's books, cycle by cycle
            text = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            out[{"git": "Git revision"}.get(name, name.replace("_", " ").capitalize())] = text[:LONG]
    return out


def heads(runs: list[Run]) -> list[dict[str, Any]]:
    """What stands over the column of a run, and what it was asked."""
    return [
        {
            "title": title(run),
            "way": way(run),
            "method": run.request.method if run.request.method in METHODS else "none",
            "asked": {
                "system": run.request.system,
                "history": [[turn.role, turn.content] for turn in run.request.history],
                "prompt": run.request.prompt,
            },
        }
        for run in runs
    ]


def way(run: Run) -> str:
    """How it was decoded, in a few words."""
    request = run.request
    label = METHODS[request.method].label if request.method in METHODS else request.method
    return label if request.method == "none" else f"{label}, {request.walk}, {request.slots} slots"


def room(runs: list[Run], limit: int = SCORES) -> list[int]:
    """By run: before which cycle the scores end that go into the file, so that every run has an equal share."""
    share, out = limit // len(runs), []
    for run in runs:
        left, stop = share, 0
        for cycle in run.cycles:
            left -= 0 if cycle.scores is None else -(-cycle.scores.nbytes * 4 // 3)
            if left < 0:
                break
            stop += 1
        out.append(stop)
    return out


def scores(run: Run, stop: int) -> Iterator[list[str] | None]:
    """Of every cycle before `stop`: the K x K scores of each slot pair, base64 of little-endian float16."""
    for cycle in run.cycles[:stop]:
        yield None if cycle.scores is None else [encode(pair, "<f2") for pair in cycle.scores]
