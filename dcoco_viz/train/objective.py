"""The loss of a micro-batch of blocks, for the drafter alone and for drafter and corrector together."""

from typing import NamedTuple

import torch

from dcoco_viz.methods.checkpoint import TOP_K
from dcoco_viz.methods.dcoco.loss import corrector_loss, pair_mask, ranks_of
from dcoco_viz.methods.dcoco.model import Corrector
from dcoco_viz.methods.dflash.loss import drafter_loss, slot_weights
from dcoco_viz.methods.dflash.model import Drafter
from dcoco_viz.train.batches import Blocks

MAX_PAIRS = 256  # slot pairs a micro-batch: bounds the memory of K^2 transitions x mlp_hidden


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


def loss(drafter: Drafter, corrector: Corrector | None, blocks: Blocks, vocab: Vocabulary) -> dict[str, torch.Tensor]:
    """Losses of one micro-batch: `drafter`, with a corrector also `corrector`, and `total`, their sum."""
    context = drafter.context(blocks.features.to(drafter.fc.weight.dtype))
    hidden = drafter(vocab.embedding[blocks.tokens], blocks.anchors, context)[:, :, 1:]
    hidden = hidden.flatten(0, 1)  # [R, B, d]
    rows, slots, _ = hidden.shape
    # Two dimensions before the head: with more, the matrix product copies the head for every block.
    logits = hidden.flatten(0, 1) @ vocab.head.T
    valid = blocks.valid.flatten(0, 1)
    labels = vocab.lookup[blocks.labels.flatten(0, 1)]
    weights = slot_weights(slots).to(logits) * valid
    soft_ids = vocab.lookup[blocks.soft_ids.flatten(0, 2)]
    losses = {
        "drafter": drafter_loss(logits, labels.flatten(), soft_ids, blocks.soft_logp.flatten(0, 2), weights.flatten())
    }
    if corrector is not None:
        logits = logits.unflatten(0, (rows, slots))
        losses["corrector"] = _corrector(corrector, hidden, logits, labels, valid, vocab)
    losses["total"] = sum(losses.values())
    return losses


def _corrector(corrector, hidden, logits, labels, valid, vocab: Vocabulary) -> torch.Tensor:
    """METHOD's joint cross-entropy, over the pairs that count only (the rest would be masked)."""
    with torch.no_grad():
        ids = logits.topk(min(TOP_K, logits.shape[-1]), -1).indices
        ranks = ranks_of(ids, labels)
        row, p = pair_mask(ranks, valid).nonzero(as_tuple=True)
        if len(row) > MAX_PAIRS:  # an even, deterministic thinning
            keep = torch.linspace(0, len(row) - 1, MAX_PAIRS, device=row.device).long()
            row, p = row[keep], p[keep]
    candidates = logits.gather(-1, ids)
    # A candidate's representation depends on its token alone: once per distinct token of the micro-batch.
    distinct, place = ids.unique(return_inverse=True)
    represented = corrector.represent(vocab.head[distinct])[place]
    pair, left, right = corrector.parts(hidden, represented, candidates)
    delta = corrector.delta(pair[row, p], left[row, p], right[row, p + 1])
    scores = candidates[row, p + 1][:, None, :] + delta
    weights = slot_weights(labels.shape[1]).to(scores)[p]
    return corrector_loss(scores, ranks[row, p], ranks[row, p + 1], weights)
