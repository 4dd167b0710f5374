"""Runs as the browser gets them: small JSON records, one a cycle.

Arrays travel as base64 of little-endian numbers. A piece (see trace/pieces.py) travels as its bytes, one
character a byte, since a part of a UTF-8 character is not JSON text. A record brings the pieces that no
earlier record of its run brought, so records have to be read in order, from the first.
"""

import base64
from typing import Any

import numpy as np

from dcoco_viz.metrics.origin import origins
from dcoco_viz.metrics.prefix import slots
from dcoco_viz.trace.pieces import to_bytes
from dcoco_viz.trace.schema import Cycle, Run

CODES = {"prefill": "p", "draft": "d", "corrected": "c", "bonus": "b", "plain": "n"}


def encode(array: np.ndarray | None, dtype: str) -> str | None:
    """Base64 of the array's numbers in row order; None stays None."""
    return None if array is None else base64.b64encode(np.ascontiguousarray(array, dtype)).decode()


class Encoder:
    """Turns the cycles of a growing run into records, each once, in order."""

    def __init__(self, run: Run, start: int = 0):
        """Begin at cycle `start`, as if all before it had been sent."""
        self._run, self._next = run, start
        self._sent = set(opening(run))
        for cycle in run.cycles[:start]:
            self._sent.update(_mentioned(cycle))

    def take(self, stop: int | None = None) -> list[dict[str, Any]]:
        """Records of the cycles that came since the last call, up to cycle `stop`."""
        cycles = self._run.cycles[self._next : stop]
        self._next += len(cycles)
        return [self._record(cycle) for cycle in cycles]

    def _record(self, cycle: Cycle) -> dict[str, Any]:
        new = [i for i in dict.fromkeys(_mentioned(cycle)) if i not in self._sent]
        self._sent.update(new)
        record = {
            "index": cycle.index,
            "position": cycle.anchor_position,
            "anchor": cycle.anchor,
            "submitted": cycle.submitted,
            "accepted": cycle.accepted,
            "clipped": cycle.clipped,
            "drafted": cycle.drafted.tolist(),
            "committed": cycle.committed.tolist(),
            "origins": "".join(CODES[o] for o in _origins(self._run, cycle)),
            "ms": [round(ms, 3) for ms in (cycle.draft_ms, cycle.head_ms, cycle.verify_ms)],
            "pieces": {str(i): text(self._run, i) for i in new},
        }
        if cycle.candidates is not None:
            record |= {
                "shape": list(cycle.candidates.shape),
                "candidates": encode(cycle.candidates, "<i4"),
                "logits": encode(cycle.logits, "<f4"),
                "lognorm": encode(cycle.lognorm, "<f4"),
                "ranks": cycle.ranks.tolist(),
                "verifier": [] if cycle.verifier is None else cycle.verifier.tolist(),
                "logprob": [
                    round(float(x), 4) if np.isfinite(x) else None
                    for x in (() if cycle.drafted_logprob is None else cycle.drafted_logprob)
                ],
                "walked": encode(walked(cycle), "<f2"),
            }
            if cycle.corrected is not None:
                record["corrected"] = encode(cycle.corrected, "<f4")
        return record


def opening(run: Run) -> dict[int, str]:
    """Pieces of what comes before the first cycle: the answer that was given, the prefill token, special tokens."""
    ids = [*run.request.continued, *run.token_ids[:1], *(i for i in run.meta.get("special_ids", ()) if i in run.pieces)]
    return {i: text(run, i) for i in ids}


def text(run: Run, token: int) -> str:
    """The bytes of a token, one character a byte."""
    return to_bytes(run.pieces.get(token, "")).decode("latin-1")


def walked(cycle: Cycle) -> np.ndarray | None:
    """S_p(k_p, b): the rows of the transition scores that the walk looked at.

    Returns:
        [B-1, K] float16; a row is nan where the path was outside the pool. None without a grid of transitions.
    """
    if cycle.scores is None:
        return None
    rows = cycle.scores[np.arange(len(cycle.scores)), cycle.ranks[:-1]].copy()
    rows[cycle.ranks[:-1] < 0] = np.nan
    return rows


def _origins(run: Run, cycle: Cycle) -> list[str]:
    alone = Run(run.id, run.request, run.prompt_ids, [0, *cycle.committed.tolist()], [cycle])
    return origins(alone)[1:]


def _mentioned(cycle: Cycle) -> list[int]:
    arrays = (cycle.committed, cycle.drafted, cycle.candidates, cycle.verifier)
    return [cycle.anchor, *(i for a in arrays if a is not None for i in a.ravel().tolist())]


def shape(run: Run) -> list[int] | None:
    """[B, K] of the run's first drafted block; None before it, and without candidates."""
    for cycle in run.cycles:
        if cycle.candidates is not None:
            return [slots(cycle), cycle.candidates.shape[1]]
    return None
