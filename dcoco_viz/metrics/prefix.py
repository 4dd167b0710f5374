"""How far blocks were accepted, and how far they could have been (METHOD: "Words")."""

from typing import NamedTuple

import numpy as np

from dcoco_viz.trace.schema import Cycle, Run


class Prefixes(NamedTuple):
    """Accepted lengths, 0..B, of three paths through one block.

    selected - top1 is what the head gains, oracle - selected is lost by ranking, B - oracle by coverage.
    """

    top1: int  # the drafter's argmax at every slot
    selected: int  # the chosen path, all B slots of it, also those that were not submitted
    oracle: int  # the best path inside the pool


def tau(run: Run) -> float | None:
    """Pooled: committed tokens / cycles, prefill token left out. None without drafting or without cycles.

    None at record level `dense` too: its cycles submit nothing, and say nothing of how the method decodes.
    """
    if run.request.method == "none" or run.request.record == "dense" or not run.cycles:
        return None
    return sum(len(cycle.committed) for cycle in run.cycles) / len(run.cycles)


def accepted_histogram(run: Run) -> np.ndarray:
    """How many cycles accepted 0, 1, ... tokens, before clipping; cycles that submitted none are left out.

    Returns:
        [n + 1] int64, n the largest number of slots submitted in the run.
    """
    drafts = [cycle for cycle in run.cycles if cycle.submitted]
    longest = max((cycle.submitted for cycle in drafts), default=0)
    return np.bincount([cycle.accepted for cycle in drafts], minlength=longest + 1).astype(np.int64)


def slots(cycle: Cycle) -> int:
    """B, the slots drafted; at record level `light` only the submitted ones are known."""
    return cycle.submitted if cycle.candidates is None else cycle.candidates.shape[0]


def truth(run: Run, cycle: Cycle) -> np.ndarray:
    """The token finally committed at every slot of a cycle's block, in this cycle or a later one.

    Returns:
        [B] int64; slot j = 1..B is position anchor_position + j. -1 where the run ended before it.
    """
    start = cycle.anchor_position + 1 - len(run.prompt_ids)
    tokens = run.token_ids[start : start + slots(cycle)]
    out = np.full(slots(cycle), -1, np.int64)
    out[: len(tokens)] = tokens
    return out


def prefixes(run: Run, cycle: Cycle) -> Prefixes | None:
    """Lengths of the block's three paths against `truth`; None where the candidates were not recorded.

    Tokens past the end of the run count for no path. At T = 0 each is the length that verification would
    accept; at T > 0 it is agreement with the text that was sampled.
    """
    if cycle.candidates is None:
        return None
    true = truth(run, cycle)
    held = cycle.candidates == true[:, None]  # [B, K]
    rows = np.arange(len(true))
    selected = held[rows, cycle.ranks] & (cycle.ranks >= 0)
    n = cycle.submitted  # a submitted token from outside the pool is known too
    selected[:n] |= cycle.drafted == true[:n]
    return Prefixes(_leading(held[:, 0]), _leading(selected), _leading(held.any(1)))


def mean_prefixes(runs: list[Run]) -> tuple[float, float, float] | None:
    """(top1, selected, oracle) averaged over every recorded block of the runs; None without any."""
    found = [p for run in runs for cycle in run.cycles if (p := prefixes(run, cycle)) is not None]
    return tuple(np.mean(found, axis=0).tolist()) if found else None


def _leading(good: np.ndarray) -> int:
    """How many entries are true before the first that is not."""
    return int(np.logical_and.accumulate(good).sum())
