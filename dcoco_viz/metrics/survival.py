"""How far three paths through a block agree with the text, slot by slot and on average (METHOD: "Words")."""

from typing import NamedTuple

import numpy as np

from dcoco_viz.metrics.blocks import Blocks

PATHS = ("top1", "selected", "oracle")


class Survival(NamedTuple):
    """Shares of blocks by path and slot."""

    share: dict[str, np.ndarray]  # path -> [B] float64: prefix at least j = 1..B long, of all blocks; nan: no block
    blocks: int


class Budget(NamedTuple):
    """Mean lengths: what becomes of the slots of a block. top1 + gained + ranking + coverage = slots."""

    slots: float  # B
    top1: float
    selected: float
    oracle: float

    @property
    def gained(self) -> float:
        """By the head; below 0 where it loses."""
        return self.selected - self.top1

    @property
    def ranking(self) -> float:
        """Lost by the choice among the candidates."""
        return self.oracle - self.selected

    @property
    def coverage(self) -> float:
        """Lost because the pool lacks the truth, or the text ends."""
        return self.slots - self.oracle


def lengths(found: Blocks) -> dict[str, np.ndarray]:
    """The prefixes of every block: path -> [C] int64, what `metrics.prefix.prefixes` gives for one."""
    good = {"top1": found.rank == 0, "selected": found.right, "oracle": found.rank >= 0}
    return {path: np.logical_and.accumulate(good[path], axis=1).sum(1) for path in PATHS}


def survival(found: Blocks) -> Survival:
    """P(prefix >= j) of the three paths; tokens past the end of the run count for no path."""
    slots, count = np.arange(1, found.rank.shape[1] + 1), len(found.slots)
    known = count or np.nan
    return Survival(
        {path: (length[:, None] >= slots).sum(0) / known for path, length in lengths(found).items()}, count
    )


def budget(found: Blocks) -> Budget | None:
    """The means, over all blocks; None without any."""
    if not len(found.slots):
        return None
    means = {path: float(length.mean()) for path, length in lengths(found).items()}
    return Budget(float(found.slots.mean()), **means)
