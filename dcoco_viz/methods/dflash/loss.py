"""The drafter's loss: the verifier's distribution, then its argmax; early slots before late ones."""

import torch

RHO = 4.0
SOFT = 0.7


def slot_weights(slots: int, rho: float = RHO) -> torch.Tensor:
    """exp(-(j-1)/rho) for j = 1..slots: a late slot only counts when all earlier ones were right."""
    return torch.exp(-torch.arange(slots) / rho)


def drafter_loss(
    logits: torch.Tensor,
    labels: torch.Tensor,
    soft_ids: torch.Tensor,
    soft_logp: torch.Tensor,
    weights: torch.Tensor,
    soft: float = SOFT,
) -> torch.Tensor:
    """soft * cross-entropy to the verifier's top tokens (renormalised) + (1 - soft) * that to its argmax.

    Args:
        logits: [N, V'] draft logits over the loss vocabulary.
        labels: [N] index of the verifier's argmax in the loss vocabulary, -1 where it is outside.
        soft_ids: [N, M] indices of the verifier's best tokens, -1 where outside.
        soft_logp: [N, M] their log-probabilities.
        weights: [N] weight of each slot; 0 drops it.

    Returns:
        scalar, the weighted mean. A slot whose argmax is outside the loss vocabulary does not count.
    """
    weights = weights * (labels >= 0)
    lognorm = logits.logsumexp(-1)
    hard = lognorm - logits.gather(-1, labels.clamp(min=0)[:, None]).squeeze(-1)
    # -1e4 and not -inf: a row without any known token must stay finite; its weight is 0 anyway.
    target = soft_logp.masked_fill(soft_ids < 0, -1e4).softmax(-1)
    near = lognorm - (target * logits.gather(-1, soft_ids.clamp(min=0))).sum(-1)
    return (weights * (soft * near + (1 - soft) * hard)).sum() / weights.sum().clamp(min=1e-6)
