"""Where the time of a run went."""

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

from dcoco_viz.trace.schema import Run


class Timing(NamedTuple):
    """Medians in milliseconds, and decode speed; None where there is nothing to measure."""

    draft_ms: float | None  # over cycles that drafted
    head_ms: float | None  # over cycles that drafted; a part of draft_ms
    verify_ms: float | None  # over all cycles
    tokens_per_second: float | None


def timing(run: Run) -> Timing:
    drafts = [cycle for cycle in run.cycles if cycle.submitted or cycle.candidates is not None]
    return Timing(
        _median(cycle.draft_ms for cycle in drafts),
        _median(cycle.head_ms for cycle in drafts),
        _median(cycle.verify_ms for cycle in run.cycles),
        tokens_per_second(run),
    )


def tokens_per_second(run: Run) -> float | None:
    """(output tokens - 1) / seconds from first token to last.

    None below two tokens, and at record level `dense`, whose speed is that of the recording.
    """
    made = len(run.token_ids) - 1
    measured = made > 0 and run.seconds > 0 and run.request.record != "dense"
    return made / run.seconds if measured else None


def speedup(run: Run, baseline: Run | None) -> float | None:
    """Decode speed over a baseline run's (method `none`, same prompt); None where either has no speed."""
    ours, theirs = tokens_per_second(run), tokens_per_second(baseline) if baseline else None
    return ours / theirs if ours and theirs else None


def _median(values: Iterable[float]) -> float | None:
    values = list(values)
    return median(values) if values else None
