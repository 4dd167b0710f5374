"""The run-level tau of a walk that the run did not take.

Another accepted length moves the next anchor, so that this needs a proposal at every position of the text: a dense
trace, whose cycle i is anchored at output token i.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from dcoco_viz.trace.schema import Run

if TYPE_CHECKING:  # torch takes seconds to load, and a dense trace can be found without
    from dcoco_viz.lab.replay import Replay

SAME = ("preset", "dtype")  # of `Run.meta`: what decides the text


class Simulation(NamedTuple):
    """A walk through the whole text, from one anchor to the next."""

    anchors: list[int]  # output token at which each cycle is anchored
    submitted: list[int]  # slots that each cycle submits; 0: a step without a draft
    accepted: list[int]
    committed: list[int]

    @property
    def tau(self) -> float:
        """Committed tokens / cycles."""
        return sum(self.committed) / len(self.committed)


def simulate(dense: Run, replayed: "Replay") -> Simulation | None:
    """Decode the text of a dense trace with a walk that was replayed on it; None where it has one token or none.

    A position whose block was not recorded is a plain step: nothing submitted, one token committed.
    """
    rows = {int(cycle): row for row, cycle in enumerate(replayed.cycles)}
    last, at, out = len(dense.token_ids) - 1, 0, Simulation([], [], [], [])
    while at < last:
        row = rows.get(at)
        step = (0, 0, 1) if row is None else tuple(int(x[row]) for x in replayed[3:])
        for column, value in zip(out, (at, *step), strict=True):
            column.append(value)
        at += step[2]
    return out if out.anchors else None


def find(run: Run, runs: Iterable[Run]) -> Run | None:
    """The dense trace of a run's text among these: the run itself, or one of the same prompt, text and method."""
    return next((other for other in (run, *runs) if belongs(run, other)), None)


def belongs(run: Run, other: Run) -> bool:
    """Whether `other` is a dense trace of the run's text."""
    return (
        other.request.record == "dense"
        and other.request.method == run.request.method
        and all(other.meta.get(key) == run.meta.get(key) for key in SAME)
        and other.prompt_ids == run.prompt_ids
        and other.token_ids == run.token_ids
    )


def parted(run: Run, dense: Run) -> int | None:
    """The first output token, from 0, at which the two texts differ; None where they are equal."""
    if run.token_ids == dense.token_ids:
        return None
    pairs = zip(run.token_ids, dense.token_ids, strict=False)
    shorter = min(len(run.token_ids), len(dense.token_ids))
    return next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
