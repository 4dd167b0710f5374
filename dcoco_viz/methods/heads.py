"""The heads by kind: how to make one, what it learns by, and how it chooses a path."""

from collections.abc import Callable
from typing import NamedTuple

import torch

from dcoco_viz.lattice.walk import Walk, along, choose
from dcoco_viz.methods.block import Block, Chosen, Grid, Taught
from dcoco_viz.methods.dcoco.loss import loss as dcoco_loss
from dcoco_viz.methods.dcoco.model import Corrector
from dcoco_viz.methods.domino.loss import loss as domino_loss
from dcoco_viz.methods.domino.loss import shares as domino_shares
from dcoco_viz.methods.domino.model import Domino
from dcoco_viz.methods.dspark.loss import loss as dspark_loss
from dcoco_viz.methods.dspark.model import Markov
from dcoco_viz.methods.selector.loss import loss as selector_loss
from dcoco_viz.methods.selector.model import Selector


def _both(progress: float) -> tuple[float, float]:
    return 1.0, 1.0


class Kind(NamedTuple):
    """A kind of head."""

    model: type[torch.nn.Module]
    loss: Callable[[torch.nn.Module, Taught], torch.Tensor]
    shares: Callable[[float], tuple[float, float]] = _both  # progress -> weights of drafter's loss and head's


KINDS = {
    "dcoco": Kind(Corrector, dcoco_loss),
    "domino": Kind(Domino, domino_loss, domino_shares),
    "dspark": Kind(Markov, dspark_loss),
    "selector": Kind(Selector, selector_loss),
}


class Decided(NamedTuple):
    """The path of a head through R blocks, and the scores that it was chosen by."""

    ranks: torch.Tensor  # [R, B] int64
    scores: torch.Tensor | None  # [R, B-1, K, K] of a head that scores a grid
    corrected: torch.Tensor | None  # [R, B, K] given the chosen prefix, where `scores` and draft logits do not say it
    confidence: torch.Tensor | None  # [R, B]


def make(kind: str, hidden_size: int, vocab_size: int, **settings) -> torch.nn.Module:
    """A fresh head: with it the path is the drafter's argmax.

    Raises:
        KeyError: there is no such kind.
        TypeError: it does not know one of the settings.
    """
    sizes = {"hidden_size": hidden_size} if kind == "dcoco" else {"hidden_size": hidden_size, "vocab_size": vocab_size}
    return KINDS[kind].model(**sizes, **settings)


@torch.no_grad()
def start(head: torch.nn.Module, embedding: torch.Tensor) -> None:
    """Give a fresh head's table of preceding tokens a start that knows which tokens are alike (ours).

    A random projection of the verifier's embeddings [V, d], of the scale that the table was made with. A head
    without such a table stays as it is.
    """
    if (table := getattr(head, "before", None)) is None:
        return
    centred = embedding.float() - embedding.float().mean(0)
    mixed = centred @ torch.randn(embedding.shape[1], table.embedding_dim, device=embedding.device)
    table.weight.copy_(mixed / mixed.std() * table.embedding_dim**-0.5)


def decide(head: torch.nn.Module, block: Block, walks: list[Walk]) -> Decided:
    """Choose a path through every block.

    Args:
        walks: [R] the walk of each block. A serial head knows one way only and takes no notice of it.
    """
    found = head(block)
    if isinstance(found, Chosen):
        return Decided(found.ranks, None, found.corrected, found.confidence)
    ranks = _walk(walks, found)
    return Decided(ranks, found.scores, along(found.first, found.scores, ranks) if head.anchored else None, None)


def _walk(walks: list[Walk], grid: Grid) -> torch.Tensor:
    """Ranks [R, B]: every row by its own walk, rows of the same walk together."""
    walks = [walk.path for walk in walks]
    first = grid.first[:, None]
    if walks.count(walks[0]) == len(walks):
        return choose(walks[0], first, grid.scores)
    ranks = torch.empty(len(walks), grid.scores.shape[1] + 1, dtype=torch.int64, device=first.device)
    for walk in dict.fromkeys(walks):
        rows = [i for i, other in enumerate(walks) if other == walk]
        ranks[rows] = choose(walk, first[rows], grid.scores[rows])
    return ranks
