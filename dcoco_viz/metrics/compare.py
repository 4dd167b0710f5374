"""Runs beside each other: what they share, what each cost, and where they part.

An entry is one way to decode, with one run or more: its repeats. Whether runs are repeats, the caller says.
"""

from statistics import median
from typing import Any, NamedTuple

import numpy as np

from dcoco_viz.metrics.origin import origins
from dcoco_viz.metrics.prefix import tau
from dcoco_viz.metrics.timing import speedup, timing
from dcoco_viz.trace.check import BROKEN_OFF
from dcoco_viz.trace.schema import Run

FIGURES = (
    "tau",
    "tokens_per_second",
    "speedup",
    "cycles",
    "output_tokens",
    "cycle_ms",
    "draft_ms",
    "head_ms",
    "verify_ms",
)


class Spread(NamedTuple):
    """One number over the repeats of an entry."""

    median: float
    low: float  # the smallest
    high: float  # the largest


class Evidence(NamedTuple):
    """What a run's record says of one output position."""

    token: int | None  # None: the run has none there
    origin: str | None  # metrics/origin.py
    cycle: int | None  # that committed it; None: the prefill, or not recorded
    drafted: int | None  # the drafted token that was verified there; None: none, or behind a refusal
    logprob: float | None  # its log-probability under the verifier; None: not recorded


class Shared(NamedTuple):
    """Output positions of one text by who had drafted the token."""

    alone: list[int]  # by run: this run had, and no other
    all: int
    some: int  # more than one of the runs, and not all
    none: int


def finished(runs: list[Run]) -> list[Run]:
    """Those that came to their end; all of them where none did."""
    return [run for run in runs if run.finish_reason not in BROKEN_OFF] or runs


def typical(runs: list[Run]) -> Run:
    """The run of an entry with the median decode time, of two in the middle the faster; of the finished ones."""
    return sorted(finished(runs), key=lambda run: run.seconds)[(len(finished(runs)) - 1) // 2]


def cycle_ms(run: Run) -> float | None:
    """Median milliseconds of a cycle: draft and verify together. None without cycles."""
    return median(c.draft_ms + c.verify_ms for c in run.cycles) if run.cycles else None


def figures(runs: list[Run], plain: list[Run]) -> dict[str, Spread | None]:
    """Every number of FIGURES over an entry's finished runs; None where there is nothing to measure.

    Args:
        plain: runs of method `none` on the same question, for the speed-up. As many as `runs`: each is held against the
            one of its own round, decoded next to it; otherwise all against the typical one.
    """
    bases = plain if len(plain) == len(runs) else [typical(plain) if plain else None] * len(runs)
    kept = {id(run) for run in finished(runs)}
    rows = [_figures(run, base) for run, base in zip(runs, bases, strict=True) if id(run) in kept]
    found = {name: [row[name] for row in rows if row[name] is not None] for name in FIGURES}
    return {name: Spread(median(v), min(v), max(v)) if v else None for name, v in found.items()}


def _figures(run: Run, baseline: Run | None) -> dict[str, float | None]:
    return timing(run)._asdict() | {
        "tau": tau(run),
        "speedup": speedup(run, baseline),
        "cycles": len(run.cycles),
        "output_tokens": len(run.token_ids),
        "cycle_ms": cycle_ms(run),
    }


def differing(runs: list[Run]) -> list[str]:
    """What of the question is not the same for all: prompt, temperature, seed, max_tokens, stop."""
    asked = [_asked(run) for run in runs]
    names = [name for name in asked[0] if any(other[name] != asked[0][name] for other in asked)] if asked else []
    return [name for name in names if name != "seed" or "temperature" not in names]


def _asked(run: Run) -> dict[str, Any]:
    request = run.request
    return {
        "prompt": run.prompt_ids,
        "temperature": request.temperature,
        "seed": request.seed if request.temperature > 0 else None,
        "max_tokens": request.max_tokens,
        "stop": request.stop,
    }


def one_place(runs: list[Run]) -> bool:
    """Whether all were decoded by one model on one machine, so that their times compare."""
    return all(len({str(run.meta.get(key)) for run in runs}) == 1 for key in ("preset", "dtype", "hardware"))


def parting(runs: list[Run]) -> int | None:
    """The first output position, from 0, at which not all texts hold the same token; None where there is none.

    A text that ended by itself differs from one that goes on; one that was cut, by its cap or by a stop, does not.
    """
    for position in range(max((len(run.token_ids) for run in runs), default=0)):
        held = {run.token_ids[position] for run in runs if position < len(run.token_ids)}
        ended = any(position >= len(run.token_ids) and run.finish_reason == "stop" for run in runs)
        if len(held) > 1 or ended:
            return position
    return None


def located(run: Run) -> np.ndarray:
    """The cycle that committed each output token.

    Returns:
        [output tokens] int64; -1 for the prefill token and for what was not recorded.
    """
    out = np.full(len(run.token_ids), -1, np.int64)
    for cycle in run.cycles:
        start = cycle.anchor_position + 1 - len(run.prompt_ids)
        out[start : start + len(cycle.committed)] = cycle.index
    return out


def arrivals(run: Run) -> np.ndarray:
    """When each output token was committed.

    Returns:
        [output tokens] float64, ms from the run's first token, not falling; what was not recorded comes at its end.
    """
    ends = np.array([cycle.at_ms for cycle in run.cycles] + [1000 * run.seconds])
    times = ends[located(run)]  # -1 is the last entry
    times[:1] = 0.0
    return np.maximum.accumulate(times)


def evidence(run: Run, position: int) -> Evidence:
    """What is recorded of the output token at `position`, from 0."""
    if not 0 <= position < len(run.token_ids):
        return Evidence(None, None, None, None, None)
    token, origin, index = run.token_ids[position], origins(run)[position], int(located(run)[position])
    if index < 0:
        return Evidence(token, origin, None, None, None)
    cycle = run.cycles[index]
    slot = position - (cycle.anchor_position + 1 - len(run.prompt_ids))
    if slot >= cycle.submitted:
        return Evidence(token, origin, index, None, None)
    logprob = None if cycle.drafted_logprob is None else float(cycle.drafted_logprob[slot])
    return Evidence(token, origin, index, int(cycle.drafted[slot]), logprob)


def shared(runs: list[Run]) -> Shared:
    """Who had drafted the tokens of one text, up to the shortest of the runs. Equal texts are the caller's to check."""
    length = min((len(run.token_ids) for run in runs), default=0)
    had = np.array([[o in ("draft", "corrected") for o in origins(run)[:length]] for run in runs])  # [runs, length]
    had = had.reshape(len(runs), length)
    by = had.sum(0)
    alone = [int((row & (by == 1)).sum()) for row in had]
    every = by == len(runs)
    return Shared(alone, int(every.sum()), int(((by > 1) & ~every).sum()), int((by == 0).sum()))
