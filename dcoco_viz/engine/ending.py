"""Where the drafted blocks of a pass end: at a fixed slot, at the walk's +cut, or where a slot stops paying (+auto)."""

from collections.abc import Callable
from typing import NamedTuple

import torch

from dcoco_viz.engine.recorder import Rule
from dcoco_viz.lattice.confidence import evidence, probability
from dcoco_viz.lattice.slots import survival
from dcoco_viz.lattice.walk import along, lengths
from dcoco_viz.methods.block import Block
from dcoco_viz.methods.checkpoint import TOP_K
from dcoco_viz.methods.heads import Decided


class Drafted(NamedTuple):
    """A pass over R requests. `block` and `decided` have a row for each of `headed`; both are None without any."""

    rules: list[Rule]
    logits: torch.Tensor  # [R, B, V] draft logits
    paths: torch.Tensor  # [R, B] chosen token ids
    headed: list[int]  # rows whose method has a head
    block: Block | None
    decided: Decided | None


def end(
    drafted: Drafted, acceptance: dict[str, torch.Tensor], worth: Callable[[torch.Tensor], list[int]]
) -> tuple[list[int], dict[int, torch.Tensor]]:
    """How many slots of every row are submitted.

    Args:
        acceptance: weights of lattice/confidence.py by method, where there are any.
        worth: survival [A, B] of the paths of all rows with +auto -> slots of each.

    Returns:
        [R] slots, and by row the log-normaliser [B] of the draft logits where it was needed.
    """
    slots = [0 if rule.level == "dense" else rule.slots for rule in drafted.rules]
    lognorms: dict[int, torch.Tensor] = {}
    chances: dict[int, torch.Tensor] = {}  # row -> [B] probability of acceptance
    for row, rule in enumerate(drafted.rules):
        if rule.level == "dense" or not (rule.walk.auto or rule.walk.cut is not None):
            continue
        logits = drafted.logits[row]
        lognorms[row] = logits.float().logsumexp(-1)
        sure = logits.gather(-1, drafted.paths[row, :, None]).squeeze(-1).float() - lognorms[row]
        told = _told(drafted, row)
        if rule.walk.cut is not None:
            slots[row] = min(slots[row], int(lengths(rule.walk, sure if told is None else told.log())))
        if rule.walk.auto:
            seen = evidence(sure, *_chosen(drafted, row), told)
            weights = acceptance.get(rule.method)
            chances[row] = probability(seen, None if weights is None else weights.to(seen.device)).cpu()
    if chances:
        most = torch.tensor([slots[row] for row in chances])
        for row, count in zip(chances, worth(survival(torch.stack(list(chances.values())), most)), strict=True):
            slots[row] = count
    return slots, lognorms


def _told(drafted: Drafted, row: int) -> torch.Tensor | None:
    """[B] what the head itself says of its path, where it says anything."""
    if not drafted.rules[row].head or drafted.decided.confidence is None:
        return None
    return drafted.decided.confidence[drafted.headed.index(row)].float()


def _chosen(drafted: Drafted, row: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The scores [B, K] that every slot was chosen by, and the ranks [B] of what was chosen."""
    if not drafted.rules[row].head:
        scores = drafted.logits[row].topk(TOP_K, -1).values
        return scores, torch.zeros_like(drafted.paths[row])
    j, decided = drafted.headed.index(row), drafted.decided
    if decided.corrected is not None:
        return decided.corrected[j], decided.ranks[j]
    first = drafted.block.logits[j : j + 1, 0]
    return along(first, decided.scores[j : j + 1], decided.ranks[j : j + 1])[0], decided.ranks[j]
