"""DSpark's loss: cross-entropy, distance to the verifier's distribution, and the confidence head's own."""

import torch
import torch.nn.functional as F

from dcoco_viz.methods.block import Taught, before
from dcoco_viz.methods.dflash.loss import slot_weights

CE, DISTANCE, CONFIDENCE = 0.1, 0.9, 1.0  # as published for DSpark


def loss(head, taught: Taught) -> torch.Tensor:
    """CE + total variation (half the L1 distance) of the corrected distribution + BCE of the confidence.

    The confidence learns whether the corrected argmax is the verifier's own token, under teacher forcing.

    Args:
        head: a Markov head.
    """
    hidden, tokens, markov = taught.hidden[:, 1:], before(taught), []
    for slot in range(tokens.shape[1]):
        last = markov[-1] if markov else None
        markov.append(head.markov(tokens[:, slot], hidden[:, slot], last))
    markov = torch.stack(markov, 1)  # [R, B, rank]
    corrected = taught.logits + markov @ head.after(taught.vocabulary).T
    known = taught.labels >= 0
    weights = slot_weights(known.shape[1], taught.rho).to(corrected) * (taught.valid & known)
    logp = corrected.log_softmax(-1)
    hard = -logp.gather(-1, taught.labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    far = distance(logp, taught.soft_ids, taught.soft_logp)
    right = (corrected.argmax(-1) == taught.labels).to(hard)
    sure = head.certainty(hidden.detach(), markov.detach())
    doubt = F.binary_cross_entropy_with_logits(sure.float(), right.float(), reduction="none")
    return (weights * (CE * hard + DISTANCE * far + CONFIDENCE * doubt)).sum() / weights.sum().clamp(min=1e-6)


def distance(logp: torch.Tensor, soft_ids: torch.Tensor, soft_logp: torch.Tensor) -> torch.Tensor:
    """Total variation between exp(logp) and the verifier's distribution, known at its best tokens alone.

    Args:
        logp: [..., V'] log-probabilities.
        soft_ids: [..., M] indices of the verifier's best tokens, -1 where outside the vocabulary.
        soft_logp: [..., M] their log-probabilities, renormalised over those inside.

    Returns:
        [...] half the sum of |p - q|; what p gives to other tokens counts whole.
    """
    inside = soft_ids >= 0
    q = soft_logp.masked_fill(~inside, -1e4).softmax(-1) * inside
    p = logp.gather(-1, soft_ids.clamp(min=0)).exp() * inside
    return 0.5 * ((p - q).abs().sum(-1) + 1 - p.sum(-1))
