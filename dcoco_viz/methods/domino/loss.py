"""Domino's loss: the corrected distribution, which takes over from the drafter's own as training goes on."""

import torch

from dcoco_viz.methods.block import Taught, before
from dcoco_viz.methods.dflash.loss import drafter_loss, slot_weights

DECAY = 0.5  # share of training over which the drafter's own loss fades out


def loss(head, taught: Taught) -> torch.Tensor:
    """The drafter's loss function on the corrected logits of slots 2.., under teacher forcing.

    Args:
        head: a Domino head.
    """
    mixed = head.mix(taught.hidden[:, 1:], head.states(taught.embed(before(taught))))[:, 1:]
    corrected = taught.logits[:, 1:] + mixed @ head.table(taught.vocabulary).T
    slots = taught.valid.shape[1]
    weights = slot_weights(slots, taught.rho).to(corrected) * taught.valid
    soft_ids, soft_logp = taught.soft_ids[:, 1:].flatten(0, 1), taught.soft_logp[:, 1:].flatten(0, 1)
    return drafter_loss(
        corrected.flatten(0, 1), taught.labels[:, 1:].flatten(), soft_ids, soft_logp, weights[:, 1:].flatten()
    )


def shares(progress: float) -> tuple[float, float]:
    """Weights of the drafter's own loss and of the head's: lambda falls from 1 to 0 and 1 - lambda grows."""
    fade = max(0.0, 1.0 - progress / DECAY)
    return fade, 1.0 - fade
