"""Acceptance by slot, as the verifier decided it: no candidates needed."""

from typing import NamedTuple

import numpy as np

from dcoco_viz.trace.schema import Run


class Acceptance(NamedTuple):
    """Cycles by slot j = 1..n, n the most slots that one submitted."""

    submitted: np.ndarray  # [n] int64, cycles that submitted slot j
    reached: np.ndarray  # [n] int64, those of them that accepted all slots before j
    accepted: np.ndarray  # [n] int64, those of them that accepted j too

    @property
    def conditional(self) -> np.ndarray:
        """[n] float64, P(j accepted | all before j accepted); nan where no cycle came so far."""
        return self.accepted / np.where(self.reached > 0, self.reached, np.nan)

    @property
    def unconditional(self) -> np.ndarray:
        """[n] float64, P(j accepted)."""
        return self.accepted / self.submitted


def acceptance(runs: list[Run]) -> Acceptance:
    """Over all cycles that submitted something; accepted lengths count before clipping."""
    drafts = [(cycle.submitted, cycle.accepted) for run in runs for cycle in run.cycles if cycle.submitted]
    sent, taken = np.array(drafts, np.int64).reshape(-1, 2).T[..., None]  # [C, 1] each
    slots = np.arange(1, sent.max(initial=0) + 1)
    submitted = sent >= slots
    return Acceptance(
        submitted.sum(0), (submitted & (taken >= slots - 1)).sum(0), (submitted & (taken >= slots)).sum(0)
    )
