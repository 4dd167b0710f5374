"""What each way to decode came to: the numbers of a comparison, one row an entry."""

from typing import Any

from dcoco_viz.components.compared import Entry, names
from dcoco_viz.components.view import View
from dcoco_viz.metrics.compare import Spread, differing, figures, finished, one_place
from dcoco_viz.metrics.names import DEFINITIONS
from dcoco_viz.metrics.prefix import accepted_histogram
from dcoco_viz.trace.check import BROKEN_OFF
from dcoco_viz.trace.schema import Run

COLUMNS = {  # name -> digits
    "tau": 2,
    "tokens_per_second": 1,
    "speedup": 2,
    "cycles": 0,
    "output_tokens": 0,
    "cycle_ms": 1,
    "draft_ms": 1,
    "head_ms": 2,
    "verify_ms": 1,
}
UNITS = {name: "ms" for name in COLUMNS if name.endswith("_ms")}
BEST = ("tau", "tokens_per_second", "speedup")  # where more is better


class Table(View):
    """Rows are entries; the best value of a column is marked."""

    def __init__(self, **kwargs: Any):
        columns = [{"name": name, "unit": UNITS.get(name, ""), **DEFINITIONS[name]._asdict()} for name in COLUMNS]
        more = {name: DEFINITIONS[name]._asdict() for name in ("histogram", "repeats")}
        super().__init__(columns=columns, **more, **kwargs)


def table(entries: list[Entry]) -> dict[str, Any]:
    """A value. A best value is marked only where all answered the same question."""
    base, fair = baseline(entries), not differing([entry.run for entry in entries])
    cells = [_cells(entry, base) for entry in entries]
    timed = one_place([entry.run for entry in entries])
    for name in (BEST if timed else ("tau",)) if fair else ():
        numbers = {float(row[name]["text"]) for row in cells if row[name]["text"]}
        for row in cells if len(numbers) > 1 else ():
            row[name]["best"] = row[name]["text"] and float(row[name]["text"]) == max(numbers)
    return {
        "baseline": bool(base),
        "rows": [
            {
                **name,
                "count": len(finished(entry.runs)),
                "left_out": len(entry.runs) - len(finished(entry.runs)),
                "finish": entry.run.finish_reason,
                "cells": row,
                "histogram": accepted_histogram(entry.run).tolist() if entry.run.request.method != "none" else None,
            }
            for name, entry, row in zip(names(entries), entries, cells, strict=True)
        ],
    }


def baseline(entries: list[Entry]) -> list[Run]:
    """The runs of method `none`; none of them where one was broken off, for another prompt, or on another machine."""
    runs = [entry.run for entry in entries]
    plain = next((entry.runs for entry in entries if entry.run.request.method == "none"), [])
    whole = all(run.finish_reason not in BROKEN_OFF for run in plain)
    return plain if whole and "prompt" not in differing(runs) and one_place(runs) else []


def _cells(entry: Entry, base: list[Run]) -> dict[str, dict[str, Any]]:
    spreads = figures(entry.runs, base)
    return {name: _cell(spreads[name], digits) for name, digits in COLUMNS.items()}


def _cell(spread: Spread | None, digits: int) -> dict[str, Any]:
    """`text` is None where there is nothing to measure, `range` where there is no spread to show."""
    if spread is None:
        return {"text": None, "range": None, "best": False}
    if spread.median % 1 and not digits:  # a half: the middle of an even number of counts
        digits = 1
    low, high = f"{spread.low:.{digits}f}", f"{spread.high:.{digits}f}"
    return {"text": f"{spread.median:.{digits}f}", "range": f"{low} – {high}" if low != high else None, "best": False}
