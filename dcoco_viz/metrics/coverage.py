"""Top-k coverage by slot (METHOD: "Words")."""

from typing import NamedTuple

import numpy as np

from dcoco_viz.metrics.prefix import truth
from dcoco_viz.trace.schema import Run


class Coverage(NamedTuple):
    """Shares by k and slot, and what they stand on."""

    share: dict[int, np.ndarray]  # k -> [B] float64, slots whose top k hold the truth; nan: no data
    counts: np.ndarray  # [B] int64, drafted slots with a known truth


def coverage(runs: list[Run], ks: tuple[int, ...] = (1, 2, 4, 8, 16)) -> Coverage:
    """Coverage@k at every slot, over all recorded blocks of all the runs.

    Every drafted slot counts, submitted or not, before or after the rejection; not those past the run's end.
    B is the longest block's. A k above some block's K gives nan: its pool does not say.
    """
    blocks = [(c.candidates, truth(run, c)) for run in runs for c in run.cycles if c.candidates is not None]
    b = max((len(true) for _, true in blocks), default=0)
    smallest = min((candidates.shape[1] for candidates, _ in blocks), default=0)
    counts, hits = np.zeros(b, np.int64), {k: np.zeros(b, np.int64) for k in ks}
    for candidates, true in blocks:
        counts[: len(true)] += true >= 0
        held = candidates == true[:, None]
        for k in ks:
            hits[k][: len(true)] += held[:, :k].any(1)
    known = np.where(counts > 0, counts, np.nan)
    return Coverage({k: hits[k] / known if k <= smallest else np.full(b, np.nan) for k in ks}, counts)
