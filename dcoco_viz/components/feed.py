"""What carries runs to the browser: no picture, only the current run of a lane and its newest cycles."""

import json
from typing import Any

from dcoco_viz.components.readout import coverage_figures, figures
from dcoco_viz.components.view import View
from dcoco_viz.components.warnings import warnings
from dcoco_viz.components.wire import Encoder, encode, opening, shape
from dcoco_viz.methods import METHODS
from dcoco_viz.trace.schema import Run
from dcoco_viz.trace.store import Store

RING = 8  # newest cycles in a value; a browser that fell behind fetches the rest
CHUNK = 50  # cycles in one answer at most


class Feed(View):
    """The value is the run, its numbers, and a ring of its newest records.

    A stream of values travels as differences. One new cycle changes one place of the ring, at the
    cost of its own record, however long the run. The browser's copy stays small for the same reason.
    """

    def __init__(self, store: Store, *, lane: str, **kwargs: Any):
        def records(query: dict[str, Any]) -> list[dict[str, Any]]:
            run = store.get(str(query["run"]))
            start = int(query["start"])
            return Encoder(run, start).take(min(int(query["stop"]), start + CHUNK)) if run else []

        def scores(query: dict[str, Any]) -> list[str | None]:
            run = store.get(str(query["run"]))
            start, pair = int(query["start"]), int(query["pair"])
            cycles = run.cycles[start : min(int(query["stop"]), start + CHUNK)] if run else []
            return [encode(c.scores[pair], "<f2") if _has(c.scores, pair) else None for c in cycles]

        super().__init__(lane=lane, server_functions=[records, scores], **kwargs)


class Sender:
    """Makes the values of one run for a Feed."""

    def __init__(self, run: Run):
        self._run = run
        self._encoder = Encoder(run)
        self._coverage: dict[str, Any] | None = None
        self._warnings: list[dict[str, Any]] = []
        self._covered = 0  # cycles that both stand on
        self._ring: list[str | None] = [None] * RING  # JSON: a dict would travel as differences of its parts

    def value(self, state: str) -> dict[str, Any]:
        """The run as it is now.

        Args:
            state: waiting, running or done.
        """
        for record in self._encoder.take():
            self._ring[record["index"] % RING] = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        count = len(self._run.cycles)
        if state == "done" or count > 1.1 * self._covered:  # a pass over the whole run: not at every cycle
            self._coverage, self._warnings = coverage_figures(self._run), warnings(self._run)
            self._covered = count
        return {
            "run": describe(self._run),
            "count": count,
            "ring": list(self._ring),
            "figures": {**figures(self._run), "coverage": self._coverage, "warnings": self._warnings},
            "state": state,
        }


def describe(run: Run) -> dict[str, Any]:
    """What the page says of a run beside its cycles."""
    request = run.request
    known = METHODS.get(request.method)
    return {
        "id": run.id,
        "name": run.name,
        "created": run.created,
        "parent": request.parent and request.parent.model_dump(),
        "method": known.name if known else "none",
        "label": known.label if known else request.method,
        "head": known.head if known else "",
        "serial": bool(known and known.serial),
        "walk": request.walk,
        "slots": request.slots,
        "prompt": request.prompt,
        "system": request.system,
        "raw": request.raw,
        "given": request.continued,
        "prompt_tokens": len(run.prompt_ids),
        "temperature": request.temperature,
        "prefill": run.token_ids[:1],
        "special": list(run.meta.get("special_ids", ())),
        "pieces": {str(i): piece for i, piece in opening(run).items()},
        "shape": shape(run),
        "finish": run.finish_reason,
    }


def _has(scores: Any, pair: int) -> bool:
    return scores is not None and 0 <= pair < len(scores)
