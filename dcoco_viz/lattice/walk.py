"""Rules that choose one candidate per slot from the transition scores of a block."""

import torch

WALKS = ("greedy",)


def greedy(first: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Prefix-first walk (METHOD: "The walk"): left to right, the best successor of what was just chosen.

    k_1 = argmax of the first slot's draft logits; k_{p+1} = argmax_b S_p(k_p, b). Ties go to the lower rank.

    Args:
        first: [..., K] draft logits of slot 1.
        scores: [..., B-1, K, K] transition scores S_p(a, b); rows are predecessors.

    Returns:
        [..., B] int64 ranks.
    """
    ranks = [first.argmax(-1)]
    for p in range(scores.shape[-3]):
        chosen = ranks[-1][..., None, None].expand(*scores.shape[:-3], 1, scores.shape[-1])
        row = scores[..., p, :, :].gather(-2, chosen)
        ranks.append(row.squeeze(-2).argmax(-1))
    return torch.stack(ranks, dim=-1)


def check(name: str) -> str:
    """Return `name` when it names a walk; raise ValueError saying which walks there are otherwise."""
    if name not in WALKS:
        raise ValueError(f"unknown walk {name!r}: choose one of {', '.join(WALKS)}")
    return name
