"""The loss of a micro-batch of blocks, for the drafter and for the head that learns with it."""

from typing import NamedTuple

import torch

from dcoco_viz.methods.block import Taught
from dcoco_viz.methods.dflash.loss import drafter_loss, slot_weights
from dcoco_viz.methods.dflash.model import Drafter
from dcoco_viz.methods.heads import KINDS
from dcoco_viz.train.batches import Blocks
from dcoco_viz.train.branch import RHO


class Vocabulary(NamedTuple):
    """The verifier's frozen embedding and the part of its head that the loss looks at."""

    embedding: torch.Tensor  # [V, d]
    tokens: torch.Tensor  # [V'] int64, token ids of the loss vocabulary
    head: torch.Tensor  # [V', d]
    lookup: torch.Tensor  # [V] int64, index in the loss vocabulary or -1


def vocabulary(embedding: torch.Tensor, head: torch.Tensor, tokens: torch.Tensor) -> Vocabulary:
    """Cut the head [V, d] to `tokens`."""
    lookup = torch.full((len(embedding),), -1, device=embedding.device)
    lookup[tokens] = torch.arange(len(tokens), device=embedding.device)
    return Vocabulary(embedding, tokens, head[tokens].contiguous(), lookup)


def loss(
    drafter: Drafter,
    head: torch.nn.Module | None,
    blocks: Blocks,
    vocab: Vocabulary,
    *,
    frozen: bool = False,
    progress: float = 1.0,
    rho: float = RHO,
) -> dict[str, torch.Tensor]:
    """Losses of one micro-batch: `drafter`, with a head also `head`, and `total`, their weighted sum.

    Args:
        frozen: the drafter does not learn: `total` is the head's loss alone, and no gradient goes further.
        progress: 0 at the head's first step, 1 at its last.
        rho: of the head's loss.
    """
    with torch.set_grad_enabled(torch.is_grad_enabled() and not frozen):
        context = drafter.context(blocks.features.to(drafter.fc.weight.dtype))
        hidden = drafter(vocab.embedding[blocks.tokens], blocks.anchors, context).flatten(0, 1)  # [R, 1 + B, d]
        slots = hidden[:, 1:]
        # Two dimensions before the head: with more, the matrix product copies the head for every block.
        logits = (slots.flatten(0, 1) @ vocab.head.T).unflatten(0, slots.shape[:2])
    valid, tokens = blocks.valid.flatten(0, 1), blocks.labels.flatten(0, 1)
    taught = Taught(
        hidden,
        logits,
        blocks.tokens[:, :, 0].flatten(),
        tokens,
        vocab.lookup[tokens],
        valid,
        vocab.lookup[blocks.soft_ids.flatten(0, 1)],
        blocks.soft_logp.flatten(0, 1),
        vocab.tokens,
        lambda ids: vocab.embedding[ids],
        progress,
        rho,
    )
    losses = {"drafter": _drafter(taught)}
    if head is None:
        losses["total"] = losses["drafter"]
        return losses
    kind = KINDS[head.kind]
    losses["head"] = kind.loss(head, taught)
    if frozen:
        losses["total"] = losses["head"]
    else:
        own, corrected = kind.shares(progress)
        losses["total"] = own * losses["drafter"] + corrected * losses["head"]
    return losses


def _drafter(taught: Taught) -> torch.Tensor:
    weights = slot_weights(taught.valid.shape[1]).to(taught.logits) * taught.valid
    soft_ids, soft_logp = taught.soft_ids.flatten(0, 1), taught.soft_logp.flatten(0, 1)
    return drafter_loss(
        taught.logits.flatten(0, 1), taught.labels.flatten(), soft_ids, soft_logp, weights.flatten()
    )
