"""The loss of a grid of transitions: the right one among the K^2 of a slot pair (METHOD: "Training")."""

import torch

from dcoco_viz.methods.block import Block, Taught

MAX_PAIRS = 256  # slot pairs a micro-batch: bounds the memory of K^2 transitions x mlp_hidden


def loss(head, taught: Taught) -> torch.Tensor:
    """Joint cross-entropy over the pairs whose two labels are candidates; the rest would be masked.

    An anchored head has one pair more, anchor and slot 1, with K transitions in place of K^2 and the weight of
    slot 1 (ours).

    Args:
        head: a DCOCO corrector.
    """
    block, ranks = pool(taught, head.top_k)
    row, p = counting(ranks, taught.valid)
    # A candidate's representation depends on its token alone: once per distinct token of the micro-batch.
    distinct, place = block.ids.unique(return_inverse=True)
    represented = head.represent(distinct, block.embed)
    parts = head.parts(block, None if represented is None else represented[place])
    delta = head.delta(parts.pair[row, p + head.anchored], parts.left[row, p], parts.right[row, p + 1])
    scores = block.logits[row, p + 1][:, None, :] + delta
    weights = torch.exp(-p / taught.rho).to(scores)
    found = corrector_loss(scores, ranks[row, p], ranks[row, p + 1], weights)
    if head.anchored:
        there = (taught.valid[:, 0] & (ranks[:, 0] >= 0)).nonzero().squeeze(-1)
        first = head.first(block, parts)[there].unsqueeze(-2)  # [N, 1, K]: the anchor is the only predecessor
        ones = first.new_ones(len(there))
        found = found + corrector_loss(first, torch.zeros_like(there), ranks[there, 0], ones)
    return found


def pool(taught: Taught, k: int) -> tuple[Block, torch.Tensor]:
    """The blocks' K best tokens of the loss vocabulary, and the rank [R, B] of every label among them, or -1."""
    with torch.no_grad():
        places = taught.logits.topk(min(k, taught.logits.shape[-1]), -1).indices
        ranks = ranks_of(places, taught.labels)
    candidates = taught.logits.gather(-1, places)
    return Block(taught.hidden, taught.anchor, taught.vocabulary[places], candidates, taught.embed), ranks


def counting(ranks: torch.Tensor, valid: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows and slot pairs that count: both labels are candidates of slots that exist; MAX_PAIRS at most."""
    row, p = pair_mask(ranks, valid).nonzero(as_tuple=True)
    if len(row) > MAX_PAIRS:  # an even, deterministic thinning
        keep = torch.linspace(0, len(row) - 1, MAX_PAIRS, device=row.device).long()
        row, p = row[keep], p[keep]
    return row, p


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
    """Cross-entropy of a joint softmax over the transitions of each pair.

    Args:
        scores: [N, J, K] transition scores, rows are predecessors.
        a: [N] rank of the right predecessor.
        b: [N] rank of the right successor.
        weights: [N] weight of each pair, exp(-(p-1)/rho).

    Returns:
        scalar, the weighted mean; 0 when there is no pair.
    """
    joint = scores.flatten(-2).log_softmax(-1)
    right = joint.gather(-1, (a * scores.shape[-1] + b)[:, None]).squeeze(-1)
    return -(weights * right).sum() / weights.sum().clamp(min=1e-6)
