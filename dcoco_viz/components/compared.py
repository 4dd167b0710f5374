"""Runs beside each other, as the views of Compare get them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from dcoco_viz.components.wire import CODES, text
from dcoco_viz.methods import METHODS
from dcoco_viz.metrics.compare import located, typical
from dcoco_viz.metrics.origin import origins
from dcoco_viz.trace.schema import Run


class Entry(NamedTuple):
    """One way to decode, and its runs: one, or the repeats of one request."""

    runs: list[Run]

    @property
    def run(self) -> Run:
        """The one that stands for all: see `metrics.compare.typical`."""
        return typical(self.runs)


def names(entries: list[Entry]) -> list[dict[str, str]]:
    """id, method, label, detail (how it was decoded) and short (the label, or more where that is not enough)."""
    known = [METHODS.get(entry.run.request.method) for entry in entries]
    labels = [way.label if way else entry.run.request.method for way, entry in zip(known, entries, strict=True)]
    details = [_detail(entry.run) for entry in entries]
    both = list(zip(labels, details, strict=True))
    out = []
    for number, (entry, way, (label, detail)) in enumerate(zip(entries, known, both, strict=True), 1):
        if both.count((label, detail)) > 1:
            detail = ", ".join(filter(None, (detail, entry.run.name or f"no. {number}")))
        short = f"{label} ({detail})" if labels.count(label) > 1 and detail else label
        method = way.name if way else "none"
        out.append({"id": entry.run.id, "method": method, "label": label, "detail": detail, "short": short})
    return out


def _detail(run: Run) -> str:
    request, way = run.request, METHODS.get(run.request.method)
    if request.method == "none":
        return ""
    walk = request.walk if request.walk != "greedy" or way is None or way.head else ""  # the argmax path needs no walk
    return ", ".join(filter(None, (walk, f"{request.slots} slots", request.record == "dense" and "dense record")))


def line(run: Run) -> dict[str, Any]:
    """The output tokens, with a letter for the origin of each (wire.CODES) and its cycle, -1 where it has none."""
    return {
        "tokens": run.token_ids,
        "origins": "".join(CODES[origin] for origin in origins(run)),
        "cycles": located(run).tolist(),
    }


def pieces(runs: list[Run], ids: Iterable[int]) -> dict[str, str]:
    """Token pieces by id, as they travel (see wire.py); what no run names is left out."""
    found = {}
    for token in set(ids):
        holder = next((run for run in runs if token in run.pieces), None)
        if holder is not None:
            found[str(token)] = text(holder, token)
    return found


def special(runs: list[Run]) -> list[int]:
    """Ids of special tokens."""
    return sorted({token for run in runs for token in run.meta.get("special_ids", ())})
