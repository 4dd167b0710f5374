"""How likely the verifier is to accept a chosen candidate, from what drafter and head said of it (ours).

A logistic regression on four features, fitted by lab/calibrate.py on recorded runs; without a fit the draft
probability stands in for it.
"""

import torch

FEATURES = ("constant", "draft", "choice", "head")


def evidence(
    logprob: torch.Tensor, rows: torch.Tensor, ranks: torch.Tensor, told: torch.Tensor | None = None
) -> torch.Tensor:
    """The features of every slot of a path.

    Args:
        logprob: [..., B] log draft probability of the chosen candidates, over the whole vocabulary.
        rows: [..., B, K] the scores that each slot was chosen by.
        ranks: [..., B] the chosen candidates.
        told: [..., B] the head's own probability that the slot is accepted, where it tells one.

    Returns:
        [..., B, 4] float32: 1; `logprob`; the log-probability of the choice in a softmax over the candidates' scores;
        the log-odds of `told`, or 0.
    """
    choice = rows.float().log_softmax(-1).gather(-1, ranks.unsqueeze(-1)).squeeze(-1)
    head = torch.zeros_like(choice) if told is None else told.float().logit(eps=1e-4)
    return torch.stack([torch.ones_like(choice), logprob.float(), choice, head], -1)


def probability(evidence: torch.Tensor, weights: torch.Tensor | None) -> torch.Tensor:
    """[..., B] that a slot is accepted, given that all before it were.

    Args:
        evidence: [..., B, 4].
        weights: [4]; None: the draft probability itself.
    """
    return evidence[..., 1].exp() if weights is None else (evidence @ weights).sigmoid()
