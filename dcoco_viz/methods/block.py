"""What a head gets to see of a drafted block, what it decides, and what it is taught with."""

from collections.abc import Callable
from typing import NamedTuple

import torch


class Block(NamedTuple):
    """R drafted blocks of B slots with K candidates each."""

    hidden: torch.Tensor  # [R, 1 + B, d] drafter outputs: h_0 of the anchor, then h_1..h_B
    anchor: torch.Tensor  # [R] int64, the last committed token
    ids: torch.Tensor  # [R, B, K] int64, candidates, best draft logit first
    logits: torch.Tensor  # [R, B, K] their draft logits
    embed: Callable[[torch.Tensor], torch.Tensor]  # ids [...] -> the verifier's embeddings [..., d]


class Grid(NamedTuple):
    """All transitions of a block."""

    first: torch.Tensor  # [R, K] scores of slot 1's candidates: draft logits, or S_0(anchor, b)
    scores: torch.Tensor  # [R, B-1, K, K] S_p(a, b); rows are predecessors


class Chosen(NamedTuple):
    """A path that a serial head has chosen, slot by slot."""

    ranks: torch.Tensor  # [R, B] int64
    corrected: torch.Tensor  # [R, B, K] score of every candidate, given what was chosen before it
    confidence: torch.Tensor | None = None  # [R, B] probability that the verifier accepts, where the head tells


class Taught(NamedTuple):
    """A micro-batch of blocks with the verifier's own continuation, over a loss vocabulary of V' tokens."""

    hidden: torch.Tensor  # [R, 1 + B, d]
    logits: torch.Tensor  # [R, B, V'] draft logits
    anchor: torch.Tensor  # [R] int64 token ids
    tokens: torch.Tensor  # [R, B] int64 token ids of the verifier's continuation
    labels: torch.Tensor  # [R, B] their indices in the loss vocabulary, -1 where outside
    valid: torch.Tensor  # [R, B] bool, the slot lies inside the response
    soft_ids: torch.Tensor  # [R, B, M] indices of the verifier's best tokens, -1 where outside
    soft_logp: torch.Tensor  # [R, B, M] their log-probabilities
    vocabulary: torch.Tensor  # [V'] int64 token ids
    embed: Callable[[torch.Tensor], torch.Tensor]  # ids [...] -> the verifier's embeddings [..., d]
    progress: float  # 0 at the head's first step, 1 at its last
    rho: float  # the weight of slot j is exp(-(j-1)/rho)


def before(taught: Taught) -> torch.Tensor:
    """[R, B] the token before every slot under teacher forcing: the anchor, then the slots' own tokens."""
    return torch.cat([taught.anchor[:, None], taught.tokens[:, :-1]], 1)
