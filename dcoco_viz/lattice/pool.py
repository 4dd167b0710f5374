"""The candidate pool: the top-K tokens of every slot, and what their logits are worth."""

from typing import NamedTuple

import torch


class Pool(NamedTuple):
    """Top-K candidates of R requests x B slots, best first."""

    ids: torch.Tensor  # [R, B, K] int64, token ids
    logits: torch.Tensor  # [R, B, K] float32, draft logits, descending
    lognorm: torch.Tensor  # [R, B] float32, logsumexp over the whole vocabulary; zeros when not asked for


def top_k(logits: torch.Tensor, k: int, *, normalise: bool = True) -> Pool:
    """Keep the K best tokens of every slot.

    Args:
        logits: [R, B, V] draft logits.
        k: candidates per slot; at most V.
        normalise: compute the log-normaliser too, so that a cell can show a probability. It costs a pass
            over the vocabulary, and the walk does not need it.
    """
    values, ids = logits.topk(k, dim=-1)
    lognorm = logits.float().logsumexp(-1) if normalise else values.new_zeros(values.shape[:-1]).float()
    return Pool(ids, values.float(), lognorm)
