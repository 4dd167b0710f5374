"""How many slots of each path are worth submitting (ours; the paper submits all 15).

A slot is accepted only where all before it were, so that what it is expected to add is its survival, the product of
the acceptance probabilities up to it. Submitting the m best slots of a batch of R requests makes

    (R + the survival of those slots) / (drafting + T(R + m))

tokens a second, T(n) being the time of a verifier forward over n tokens, and m is where that is greatest. Survival
falls along every path, so that the best slots of a batch are always the first ones of each of its paths. Requests that
only share the forward are counted in R with a token each, since its time is theirs too.
"""

from typing import NamedTuple

import torch


class Share(NamedTuple):
    """What is submitted of a batch."""

    slots: list[int]  # of every request
    rate: float  # expected tokens a second of the whole batch


def survival(probability: torch.Tensor, most: torch.Tensor) -> torch.Tensor:
    """Probability that the verifier accepts a path as far as each slot.

    Args:
        probability: [R, B] that a slot is accepted, given that all before it were.
        most: [R] slots that may be submitted; those behind have survival 0.

    Returns:
        [R, B] float64, falling along every row.
    """
    inside = torch.arange(probability.shape[-1]) < most[:, None]
    return (probability.double() * inside).cumprod(-1)


def share(survival: torch.Tensor, seconds: torch.Tensor, drafting: float, beside: int = 0) -> Share:
    """The number of slots of every request that makes the most tokens a second.

    Args:
        survival: [R, B], falling along every row.
        seconds: [R x B + 1] of a verifier forward that submits 0, 1, ... slots of all requests together.
        drafting: seconds that drafting takes, once for the batch.
        beside: requests that only share the forward.
    """
    rows, slots = survival.shape
    values, order = survival.flatten().sort(descending=True, stable=True)
    tokens = rows + beside + torch.cat([values.new_zeros(1), values.cumsum(0)])
    rates = tokens / (drafting + seconds)
    rates[1:][values <= 0] = 0.0
    best = int(rates.argmax())
    return Share(torch.bincount(order[:best] // slots, minlength=rows).tolist(), float(rates[best]))
