"""The selector's loss: DCOCO's joint cross-entropy over a pair's K^2 transitions, so that only the heads differ."""

import torch

from dcoco_viz.methods.block import Taught
from dcoco_viz.methods.dcoco.loss import corrector_loss, counting, pool


def loss(head, taught: Taught) -> torch.Tensor:
    """Joint cross-entropy over the pairs whose two labels are candidates.

    Args:
        head: a Selector.
    """
    block, ranks = pool(taught, head.top_k)
    row, p = counting(ranks, taught.valid)
    scores = head.scores(block)[row, p]
    return corrector_loss(scores, ranks[row, p], ranks[row, p + 1], torch.exp(-p / taught.rho).to(scores))
