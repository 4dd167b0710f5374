"""All recorded blocks of some runs as arrays: what coverage and survival count, without a loop over slots."""

from itertools import groupby
from typing import NamedTuple

import numpy as np

from dcoco_viz.trace.schema import Cycle, Run

OUTSIDE = -1  # the pool lacks the truth
UNKNOWN = -2  # the run ended before the slot, or the block is shorter


class Blocks(NamedTuple):
    """C blocks, padded to the longest one's B."""

    rank: np.ndarray  # [C, B] int16, of the truth in the pool; OUTSIDE or UNKNOWN
    right: np.ndarray  # [C, B] bool, the chosen token is the truth
    slots: np.ndarray  # [C] int64, drafted in each
    pool: int  # the smallest K; 0 without blocks


def blocks(runs: list[Run]) -> Blocks:
    """Every cycle with candidates, in order. Truth, and what is chosen, as in metrics/prefix.py."""
    parts = []
    for run in runs:
        drafts = (cycle for cycle in run.cycles if cycle.candidates is not None)
        for shape, cycles in groupby(drafts, lambda cycle: cycle.candidates.shape):
            parts.append((*_compare(run, list(cycles)), *shape))
    b = max((slots for *_, slots, _ in parts), default=0)
    rank, right = ([_pad(part[i], b, fill) for part in parts] for i, fill in ((0, UNKNOWN), (1, False)))
    return Blocks(
        np.concatenate([np.empty((0, b), np.int16), *rank]),
        np.concatenate([np.empty((0, b), bool), *right]),
        np.repeat([slots for *_, slots, _ in parts], [len(part[0]) for part in parts]).astype(np.int64),
        min((pool for *_, pool in parts), default=0),
    )


def _compare(run: Run, cycles: list[Cycle]) -> tuple[np.ndarray, np.ndarray]:
    """`rank` and `right` of cycles of one shape."""
    candidates = np.stack([cycle.candidates for cycle in cycles])  # [C, B, K]
    ranks = np.stack([cycle.ranks for cycle in cycles]).astype(np.int64)  # [C, B]
    b = candidates.shape[1]
    drafted = np.full((len(cycles), b), -1, np.int64)
    for row, cycle in zip(drafted, cycles, strict=True):
        row[: cycle.submitted] = cycle.drafted
    text = np.append(np.asarray(run.token_ids, np.int64), -1)  # the last entry stands for all that never came
    first = np.array([cycle.anchor_position + 1 - len(run.prompt_ids) for cycle in cycles])
    true = text[np.minimum(first[:, None] + np.arange(b), len(text) - 1)]  # [C, B]
    held = candidates == true[..., None]
    rank = np.where(true < 0, UNKNOWN, np.where(held.any(2), held.argmax(2), OUTSIDE)).astype(np.int16)
    chosen = np.take_along_axis(held, np.maximum(ranks, 0)[..., None], 2)[..., 0] & (ranks >= 0)
    return rank, (chosen | (drafted == true)) & (true >= 0)


def _pad(array: np.ndarray, width: int, fill: int | bool) -> np.ndarray:
    return np.pad(array, ((0, 0), (0, width - array.shape[1])), constant_values=fill)
