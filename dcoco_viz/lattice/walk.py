"""Rules that choose one candidate per slot from the transition scores of a block, and their names.

A walk's name is a rule and what is changed about it: RULE[+top:M][+cut:P][+k:N][+auto].

    greedy         from slot to slot the best successor of what was just chosen (METHOD: "The walk")
    global-sum     the path with the greatest sum of transition scores
    geometric:L    the path with the greatest weighted sum: the p-th transition counts L^(p-1)
    beam:W         the same with L = 0.75, but at every slot only the W candidates that end the best paths live on
    +top:M         from every candidate only its M best successors may follow; with M = 1 every rule is greedy
    +cut:P         the block ends before the path's draft probability, slot by slot multiplied, falls below P
    +k:N           only the first N candidates of every slot are looked at
    +auto          the block ends where one more slot costs more time than it gains, in the engine and at the moment

Slot 1 is the argmax of the draft logits in all of them, or of the head's scores where it scores that slot too.
"""

import math
import re
from typing import NamedTuple

import torch

WALKS = ("greedy", "global-sum", "geometric:L", "beam:W")
CHANGES = ("top:M", "cut:P", "k:N", "auto")
BEAM_WEIGHT = 0.75
LARGEST = 256  # of W, M and N
_NUMBER = re.compile(r"\d{1,6}(\.\d{1,6})?|\.\d{1,6}", re.ASCII)


class Walk(NamedTuple):
    """A parsed name. What a walk does not use is None."""

    rule: str  # greedy, global-sum, geometric, beam
    weight: float = 1.0  # L: transition p counts L^(p-1)
    width: int | None = None  # W
    top: int | None = None  # M
    cut: float | None = None  # P
    k: int | None = None  # N
    auto: bool = False

    @property
    def path(self) -> "Walk":
        """The same walk without what only ends the block: it chooses the same candidates."""
        return self._replace(cut=None, auto=False)

    @property
    def name(self) -> str:
        """The canonical name: `parse(walk.name) == walk`, and equal walks have equal names."""
        value = {"geometric": self.weight, "beam": self.width}.get(self.rule)
        changes = {"top": self.top, "cut": self.cut, "k": self.k}
        parts = [(self.rule, value), *((key, number) for key, number in changes.items() if number is not None)]
        parts += [("auto", None)] * self.auto
        return "+".join(key if number is None else f"{key}:{_text(number)}" for key, number in parts)

    def __str__(self) -> str:
        return self.name


def parse(name: str) -> Walk:
    """The walk of that name; modifiers may come in any order.

    Raises:
        ValueError: no such walk, or a number out of its bounds; one sentence for the user.
    """
    rule, *changes = name.split("+")
    rule, _, value = rule.partition(":")
    if rule in ("greedy", "global-sum") and ":" not in name.split("+")[0]:
        walk = Walk(rule)
    elif rule == "geometric":
        walk = Walk(rule, weight=_share(name, "L", value))
    elif rule == "beam":
        walk = Walk(rule, weight=BEAM_WEIGHT, width=_count(name, "W", value))
    else:
        raise _unknown(name, f"its rule is one of {', '.join(WALKS)}")
    for change in changes:
        key, _, value = change.partition(":")
        if key not in ("top", "cut", "k") and change != "auto":
            raise _unknown(name, f"behind its rule may stand +{', +'.join(CHANGES)}")
        if getattr(walk, key) not in (None, False):
            raise _unknown(name, f"{key} stands in it twice")
        if key == "auto":
            walk = walk._replace(auto=True)
            continue
        read, letter = {"top": (_count, "M"), "cut": (_share, "P"), "k": (_count, "N")}[key]
        walk = walk._replace(**{key: read(name, letter, value)})
    return walk


def check(name: str) -> str:
    """The canonical name of the walk that `name` names; raises ValueError as `parse` does."""
    return parse(name).name


def _count(name: str, letter: str, text: str) -> int:
    if not (_NUMBER.fullmatch(text) and "." not in text and 1 <= int(text) <= LARGEST):
        raise _unknown(name, f"{letter} is a whole number from 1 to {LARGEST}, not {text!r}")
    return int(text)


def _share(name: str, letter: str, text: str) -> float:
    if not (_NUMBER.fullmatch(text) and 0 < float(text) <= 1):
        raise _unknown(name, f"{letter} is a number above 0 and up to 1, as 0.75, not {text!r}")
    return float(text)


def _unknown(name: str, why: str) -> ValueError:
    return ValueError(f"unknown walk {name[:80]!r}: {why}")


def _text(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)


def choose(walk: Walk, logits: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """The path of a walk through every block. Of equal choices the lower rank is taken, from the left.

    Args:
        walk: `cut` and `auto` have no part in the path; see `lengths`, and lattice/slots.py.
        logits: [..., B, K] draft logits; only the first slot's are looked at, and may be a head's scores of that slot.
        scores: [..., B-1, K, K] transition scores S_p(a, b); rows are predecessors.

    Returns:
        [..., B] int64 ranks.
    """
    if walk.k is not None:
        logits, scores = logits[..., : walk.k], scores[..., : walk.k, : walk.k]
    first = logits[..., 0, :]
    if walk.rule == "greedy" or walk.top == 1 or walk.width == 1:
        return greedy(first, scores)
    scores = scores.double()  # so that sums of recorded scores, which are float16, have no rounding of their own
    if walk.top is not None and walk.top < scores.shape[-1]:
        place = _places(scores)
        scores = scores.masked_fill(place >= walk.top, -math.inf)
    if walk.width is not None and walk.width < scores.shape[-1]:
        return _beam(first, scores, walk.weight, walk.width)
    return greedy(first, _to_come(scores, walk.weight))


def lengths(walk: Walk, logprobs: torch.Tensor) -> torch.Tensor:
    """How many slots of a path are submitted: all without `cut`, never none.

    Args:
        logprobs: [..., B] log draft probability of the chosen candidate at every slot.

    Returns:
        [...] int64, each 1..B.
    """
    if walk.cut is None:
        return logprobs.new_full(logprobs.shape[:-1], logprobs.shape[-1], dtype=torch.int64)
    enough = logprobs.double().cumsum(-1) >= math.log(walk.cut)
    return enough.long().cumprod(-1).sum(-1).clamp(min=1)


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


def along(first: torch.Tensor, scores: torch.Tensor, ranks: torch.Tensor) -> torch.Tensor:
    """What every slot of a path was chosen by.

    Args:
        first: [R, K] scores of slot 1's candidates.
        scores: [R, B-1, K, K] transition scores.
        ranks: [R, B] the path.

    Returns:
        [R, B, K].
    """
    chosen = ranks[:, :-1, None, None].expand(-1, -1, 1, scores.shape[-1])
    return torch.cat([first[:, None], scores.gather(-2, chosen).squeeze(-2)], 1)


def _places(values: torch.Tensor) -> torch.Tensor:
    """The place of every value along the last axis, 0 the greatest; of equals the first comes first."""
    return values.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)


def _to_come(scores: torch.Tensor, weight: float) -> torch.Tensor:
    """Each score with the best that can follow it: S_p(a, b) + L max_c [S_{p+1}(b, c) + L ...].

    The greedy walk over these is the exact optimum (Viterbi from the right). From the right no power of L is ever
    formed, so that a small L does not lose the last slots to rounding.
    """
    out = []
    for p in reversed(range(scores.shape[-3])):
        after = weight * out[-1].amax(-1).unsqueeze(-2) if out else 0.0  # [..., 1, K]
        out.append(scores[..., p, :, :] + after)
    return torch.stack(out[::-1], dim=-3) if out else scores


def _beam(first: torch.Tensor, scores: torch.Tensor, weight: float, width: int) -> torch.Tensor:
    """Viterbi from the left in which the `width` best candidates of every slot live on.

    Paths that meet in a candidate have the same future, so that only the better one is kept, and the beam holds
    `width` different candidates. Sums are those of transitions p = 1, 2, ... divided by L^(p-1) of the last one.
    """
    chosen = first.argmax(-1)
    sums = scores.new_full(first.shape, -math.inf).scatter(-1, chosen.unsqueeze(-1), 0.0)  # [..., K]
    back = []
    for p in range(scores.shape[-3]):
        paths = sums.unsqueeze(-1) / weight + scores[..., p, :, :]  # [..., K, K]
        back.append(paths.argmax(-2))
        sums = paths.amax(-2)
        place = _places(sums)
        sums = sums.masked_fill(place >= width, -math.inf)
    ranks = [sums.argmax(-1)]
    for came_from in reversed(back):
        ranks.append(came_from.gather(-1, ranks[-1].unsqueeze(-1)).squeeze(-1))
    return torch.stack(ranks[::-1], dim=-1)
