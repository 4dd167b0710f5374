"""The corrector's loss: the right transition among the K^2 of a slot pair (METHOD: "Training")."""

import torch


def ranks_of(ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Rank of each slot's label among its candidates.

    Args:
        ids: [..., K] candidate ids.
        labels: [...] label ids.

    Returns:
        [...] int64, 0..K-1, or -1 where the label is not a candidate.
    """
    hits = ids == labels[..., None]
    return torch.where(hits.any(-1), hits.int().argmax(-1), -1)


def pair_mask(ranks: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
    """[R, B] ranks and validity -> [R, B-1] bool: both labels are candidates of slots that exist."""
    good = (ranks >= 0) & valid
    return good[:, :-1] & good[:, 1:]


def corrector_loss(
    scores: torch.Tensor, a: torch.Tensor, b: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Cross-entropy of a joint softmax over the K^2 transitions of each pair.

    Args:
        scores: [N, K, K] transition scores, rows are predecessors.
        a: [N] rank of the right predecessor.
        b: [N] rank of the right successor.
        weights: [N] weight of each pair, exp(-(p-1)/rho).

    Returns:
        scalar, the weighted mean; 0 when there is no pair.
    """
    joint = scores.flatten(-2).log_softmax(-1)
    right = joint.gather(-1, (a * scores.shape[-1] + b)[:, None]).squeeze(-1)
    return -(weights * right).sum() / weights.sum().clamp(min=1e-6)
