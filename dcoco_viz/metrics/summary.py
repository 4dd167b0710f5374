"""The figures of one run, as the command line prints and the page shows them."""

from typing import NamedTuple

from dcoco_viz.metrics.prefix import mean_prefixes, tau
from dcoco_viz.metrics.timing import timing
from dcoco_viz.trace.schema import Run


class RunSummary(NamedTuple):
    """One run in numbers; None where there is nothing to measure. Units and formulas: metrics/names.py."""

    method: str
    walk: str
    slots: int
    cycles: int
    output_tokens: int
    tau: float | None
    accepted: list[int]  # by cycle, before clipping
    seconds: float
    ttft_s: float
    tokens_per_second: float | None
    draft_ms: float | None
    head_ms: float | None
    verify_ms: float | None
    top1: float | None  # mean prefixes; None unless candidates were recorded
    selected: float | None
    oracle: float | None


def summary(run: Run) -> RunSummary:
    top1, selected, oracle = mean_prefixes([run]) or (None, None, None)
    return RunSummary(
        method=run.request.method,
        walk=run.request.walk,
        slots=run.request.slots,
        cycles=len(run.cycles),
        output_tokens=len(run.token_ids),
        tau=tau(run),
        accepted=[cycle.accepted for cycle in run.cycles],
        seconds=run.seconds,
        ttft_s=run.ttft_s,
        **timing(run)._asdict(),
        top1=top1,
        selected=selected,
        oracle=oracle,
    )
