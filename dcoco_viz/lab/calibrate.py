"""Fit on recorded runs how likely the verifier is to accept what drafter and head are so sure of.

At T = 0 the committed text says of every slot of a path whether it would have been accepted, whatever was submitted,
as far as all slots before it were right; the fit is on exactly these slots.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from dcoco_viz.lab.blocks import Blocks, stack
from dcoco_viz.lattice.confidence import FEATURES, evidence, probability
from dcoco_viz.lattice.walk import along
from dcoco_viz.trace.schema import Run

FEWEST = 200  # slots
SLACK = 1e-3  # of the weights' squares: features may be constant, as `head` is of most heads
BINS = np.linspace(0, 1, 11)


class Fit(NamedTuple):
    """One method's calibration. Losses are mean cross-entropies, in nats, on runs that the fit did not see."""

    weights: list[float]  # of lattice.confidence.FEATURES
    runs: int
    slots: int  # that were reached
    accepted: float  # share of them
    loss: float
    loss_draft: float  # of the draft probability itself
    reliability: list[tuple[float, float, int]]  # of each tenth of the prediction: its mean, the accepted share, slots


def fit(runs: Iterable[Run]) -> dict[str, Fit]:
    """Calibrations by method.

    Args:
        runs: recorded in full at T = 0; others are left out.

    Raises:
        ValueError: no run, or too few slots of a method, in one sentence.
    """
    seen: dict[str, list[tuple[torch.Tensor, torch.Tensor]]] = {}
    for run in runs:
        if run.request.temperature == 0 and (found := [_reached(blocks) for blocks in stack(run)]):
            pair = tuple(torch.cat(parts) for parts in zip(*found, strict=True))
            seen.setdefault(run.request.method, []).append(pair)
    if not seen:
        raise ValueError("None of these runs can be fitted: they must have drafted at temperature 0, recorded in full.")
    return {method: _fit(method, pairs) for method, pairs in seen.items()}


def _fit(method: str, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> Fit:
    slots = sum(len(labels) for _, labels in pairs)
    if slots < FEWEST or len(pairs) < 2:
        raise ValueError(
            f"{method}: {len(pairs)} runs with {slots} slots are too few to fit; it takes two runs and {FEWEST} slots."
        )
    x, y = (torch.cat(parts) for parts in zip(*pairs, strict=True))
    halves = [tuple(torch.cat(parts) for parts in zip(*pairs[i::2], strict=True)) for i in range(2)]
    unseen = [(probability(halves[1 - i][0], _weights(*halves[i])), halves[1 - i][1]) for i in range(2)]
    predicted, labels = (torch.cat(parts) for parts in zip(*unseen, strict=True))
    return Fit(
        weights=[round(w, 4) for w in _weights(x, y).tolist()],
        runs=len(pairs),
        slots=len(y),
        accepted=float(y.mean()),
        loss=_loss(predicted, labels),
        loss_draft=_loss(probability(x, None), y),
        reliability=_reliability(predicted.numpy(), labels.numpy()),
    )


def _reached(blocks: Blocks) -> tuple[torch.Tensor, torch.Tensor]:
    """Evidence [n, 4] of the slots that count, and [n] whether each was right."""
    path = blocks.ranks.clamp(min=0)
    scores = along(blocks.first, blocks.scores, path) if blocks.corrected is None else blocks.corrected
    chosen = path.unsqueeze(-1)
    sure = (blocks.logits - blocks.lognorm[..., None]).gather(-1, chosen).squeeze(-1)
    right = blocks.held.gather(-1, chosen).squeeze(-1) & (blocks.ranks >= 0)
    before = F.pad(right.long().cumprod(-1)[:, :-1], (1, 0), value=1).bool()
    inside = torch.arange(path.shape[-1]) < torch.from_numpy(blocks.left)[:, None]
    counts = before & inside & (blocks.ranks >= 0) & sure.isfinite()
    return evidence(sure, scores, path, blocks.told)[counts], right[counts].float()


def _weights(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    weights = torch.zeros(len(FEATURES), requires_grad=True)
    descent = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        descent.zero_grad()
        value = F.binary_cross_entropy_with_logits(x @ weights, y) + SLACK * weights.square().sum()
        value.backward()
        return value

    descent.step(loss)
    return weights.detach()


def _loss(predicted: torch.Tensor, labels: torch.Tensor) -> float:
    return float(F.binary_cross_entropy(predicted.clamp(1e-6, 1 - 1e-6), labels))


def _reliability(predicted: np.ndarray, labels: np.ndarray) -> list[tuple[float, float, int]]:
    place = np.clip(np.digitize(predicted, BINS) - 1, 0, len(BINS) - 2)
    rows = ((place == b, int((place == b).sum())) for b in range(len(BINS) - 1))
    return [(float(predicted[at].mean()), float(labels[at].mean()), n) for at, n in rows if n]
