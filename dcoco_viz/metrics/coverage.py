"""Top-k coverage by slot (METHOD: "Words"), and what the pool could save of a wrong first choice."""

from typing import NamedTuple

import numpy as np

from dcoco_viz.metrics.blocks import UNKNOWN, Blocks, blocks
from dcoco_viz.trace.schema import Run

KS = (1, 2, 4, 8, 16)


class Coverage(NamedTuple):
    """Shares by k and slot, and what they stand on."""

    share: dict[int, np.ndarray]  # k -> [B] float64, slots whose top k hold the truth; nan: no data
    counts: np.ndarray  # [B] int64, drafted slots with a known truth

    def mean(self, k: int) -> float | None:
        """Of the slots that have data, each with the same weight; None without any."""
        known = self.share[k][~np.isnan(self.share[k])]
        return float(known.mean()) if len(known) else None


class Saveable(NamedTuple):
    """Slots whose argmax is wrong, and those of them whose truth is in the pool all the same."""

    wrong: np.ndarray  # [B] int64
    held: np.ndarray  # [B] int64

    @property
    def share(self) -> np.ndarray:
        """[B] float64; nan where no argmax is wrong."""
        return self.held / np.where(self.wrong > 0, self.wrong, np.nan)

    @property
    def in_all(self) -> float | None:
        """Over all slots together; None where no argmax is wrong."""
        return float(self.held.sum() / self.wrong.sum()) if self.wrong.sum() else None


def coverage(runs: list[Run], ks: tuple[int, ...] = KS) -> Coverage:
    """Coverage@k at every slot, over all recorded blocks of all the runs.

    Every drafted slot counts, submitted or not, before or after the rejection; not those past the run's end.
    B is the longest block's. A k above some block's K gives nan: its pool does not say.
    """
    return coverage_of(blocks(runs), ks)


def coverage_of(found: Blocks, ks: tuple[int, ...] = KS) -> Coverage:
    """The same of blocks that were taken apart before."""
    counts = (found.rank != UNKNOWN).sum(0)
    known = np.where(counts > 0, counts, np.nan)
    share = {k: ((found.rank >= 0) & (found.rank < k)).sum(0) / known for k in ks}
    return Coverage({k: of if k <= found.pool else np.full(len(counts), np.nan) for k, of in share.items()}, counts)


def saveable(found: Blocks) -> Saveable:
    """Every drafted slot with a known truth counts, as in `coverage`."""
    wrong = (found.rank != UNKNOWN) & (found.rank != 0)
    return Saveable(wrong.sum(0), (wrong & (found.rank > 0)).sum(0))
