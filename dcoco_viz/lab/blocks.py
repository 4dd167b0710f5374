"""The drafted blocks of a run, stacked by shape, so that a walk is scored over all of them at once.

A grid of transitions says where every path leads. A serial head scored only the successors of what it had chosen, so
that of its blocks no path is known but the recorded one.
"""

from typing import NamedTuple

import numpy as np
import torch

from dcoco_viz.metrics.prefix import truth
from dcoco_viz.trace.schema import Cycle, Run


class Blocks(NamedTuple):
    """N blocks of B slots and K candidates, in the order of their cycles."""

    cycles: np.ndarray  # [N] int64, indices in the run
    logits: torch.Tensor  # [N, B, K] float32, draft logits
    lognorm: torch.Tensor  # [N, B] float32, log p(candidate) = logits - lognorm; nan where it was not recorded
    told: torch.Tensor | None  # [N, B] float32, what the head says of its path: P(accepted | all before it)
    ranks: torch.Tensor  # [N, B] int64, the recorded path; -1 outside the pool
    corrected: torch.Tensor | None  # [N, B, K] float32, the head's scores along the recorded path, where kept so
    first: torch.Tensor  # [N, K] float32, scores of slot 1
    scores: torch.Tensor | None  # [N, B-1, K, K] float32, S_p(a, b); None of a serial head,
    held: torch.Tensor  # [N, B, K] bool, the candidate is the token that was finally committed there
    left: np.ndarray  # [N] int64, tokens of the text after the anchor
    submitted: torch.Tensor  # [N] int64, slots that the engine submitted

    @property
    def logprobs(self) -> torch.Tensor:
        """[N, B, K] what +cut goes by: log p(candidate); of a head that tells its confidence, the logarithm of that."""
        if self.told is None:
            return self.logits - self.lognorm[..., None]
        return self.told.log()[..., None].expand_as(self.logits)


def stack(run: Run) -> list[Blocks]:
    """All blocks whose candidates were recorded, one entry a shape; none where the run drafted nothing."""
    alike: dict[tuple, list[Cycle]] = {}
    for cycle in run.cycles:
        if cycle.candidates is not None:
            alike.setdefault((cycle.candidates.shape, serial(cycle)), []).append(cycle)
    return [_stack(run, cycles) for cycles in alike.values()]


def serial(cycle: Cycle) -> bool:
    """Whether the head went slot by slot, so that the chosen path is the only one with scores."""
    return cycle.corrected is not None and cycle.scores is None


def first_of(cycle: Cycle) -> np.ndarray:
    """[K] what slot 1 is chosen by: the head's scores where it has any for this slot, else the draft logits."""
    return cycle.logits[0] if cycle.corrected is None else cycle.corrected[0]


def scores_of(cycle: Cycle) -> np.ndarray:
    """S_p(a, b) of a recorded block; without a head it is the draft logit of b, whatever came before.

    Returns:
        [B-1, K, K] float32.
    """
    if cycle.scores is not None:
        return cycle.scores.astype(np.float32)
    b, k = cycle.logits.shape
    return np.broadcast_to(cycle.logits[1:, None, :], (b - 1, k, k)).astype(np.float32)


def _stack(run: Run, cycles: list[Cycle]) -> Blocks:
    logits = torch.from_numpy(np.stack([cycle.logits for cycle in cycles]))
    norms = [np.full(len(c.logits), np.nan, np.float32) if c.lognorm is None else c.lognorm for c in cycles]
    end, known = len(run.prompt_ids) + len(run.token_ids), not serial(cycles[0])
    return Blocks(
        cycles=np.array([cycle.index for cycle in cycles]),
        logits=logits,
        lognorm=torch.from_numpy(np.stack(norms)),
        told=_kept([cycle.confidence for cycle in cycles]),
        ranks=torch.from_numpy(np.stack([cycle.ranks.astype(np.int64) for cycle in cycles])),
        corrected=_kept([cycle.corrected for cycle in cycles]),
        first=torch.from_numpy(np.stack([first_of(cycle) for cycle in cycles])),
        scores=torch.from_numpy(np.stack([scores_of(cycle) for cycle in cycles])) if known else None,
        held=torch.from_numpy(np.stack([c.candidates == truth(run, c)[:, None] for c in cycles])),
        left=np.array([end - 1 - cycle.anchor_position for cycle in cycles]),
        submitted=torch.tensor([cycle.submitted for cycle in cycles]),
    )


def _kept(parts: list[np.ndarray | None]) -> torch.Tensor | None:
    return None if parts[0] is None else torch.from_numpy(np.stack(parts))
