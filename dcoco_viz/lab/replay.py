"""Score any walk on the blocks that a run recorded.

At T = 0 the text is the verifier's greedy text whatever was drafted, so that what a path agrees with is exactly what
verification would have accepted. At T > 0 it is agreement with the text that was sampled. A walk sees the whole
block, as in the engine, and of its path the first slots are submitted. Blocks of a serial head have one path.
"""

from typing import NamedTuple

import numpy as np
import torch

from dcoco_viz.lab.blocks import Blocks, first_of, scores_of, serial, stack
from dcoco_viz.lattice.walk import Walk, choose, lengths, parse
from dcoco_viz.trace.schema import Cycle, Run

SERIAL = (
    "This run's head scores only the successors of what it has chosen, so that no other walk can be replayed on it: "
    "greedy, greedy+cut:P and fewer slots are what is exact."
)
AUTO = (
    "A walk with +auto ends a block by what a step costs at that moment, which no record holds: only a run's own can "
    "be replayed, with as many slots as the engine submitted."
)


class Replay(NamedTuple):
    """One walk over the recorded blocks of a run, in the order of its cycles."""

    walk: str  # canonical name
    cycles: np.ndarray  # [N] int64, indices in the run
    ranks: np.ndarray  # [N, B] int64, the chosen candidates; -1 past the end of a shorter block
    submitted: np.ndarray  # [N] int64, slots that would be submitted
    accepted: np.ndarray  # [N] int64, leading submitted slots that agree with the text
    committed: np.ndarray  # [N] int64, accepted + 1, clipped at the end of the text

    @property
    def mean(self) -> float:
        """Mean accepted length over the recorded anchors."""
        return float(self.accepted.mean())


class Paired(NamedTuple):
    """One walk against another on the same cycles."""

    difference: float  # mean accepted length less the other's
    better: int  # cycles in which it accepted more
    worse: int
    equal: int


class Deviation(NamedTuple):
    """A cycle that the run's own walk replays differently from the record."""

    cycle: int  # index in the run
    slot: int  # the first slot that differs, from 0
    margin: float  # by how much the replay prefers its choice, in logits; 0 is a tie of the recorded scores
    accepted: int  # replayed less recorded


def replay(run: Run, names: list[str], *, pool: int | None = None, slots: int | None = None) -> list[Replay]:
    """Every named walk over all recorded blocks of the run.

    Args:
        pool: the K best candidates of each slot only; None: all that were recorded, as a serial head needs them.
        slots: most slots submitted in a cycle; None: what the run's request allowed.

    Raises:
        ValueError: a name that is no walk or cannot be replayed here, or a run without recorded candidates, in one
            sentence.
    """
    walks = [parse(name) for name in names]
    groups = stack(run)
    if not groups:
        raise ValueError("This run holds no candidates: replay needs a run that drafted, recorded in full.")
    if any(walk.cut is not None for walk in walks) and any(g.logprobs.isnan().any() for g in groups):
        raise ValueError("A walk with +cut needs draft probabilities, and this run was recorded without them.")
    kept = [g.scores is not None or (pool or g.logits.shape[-1]) >= g.logits.shape[-1] for g in groups]
    if not all(kept) or not all(known(run, walk) for walk in walks):
        raise ValueError(SERIAL)
    if any(walk.auto and walk != parse(run.request.walk) for walk in walks):
        raise ValueError(AUTO)
    limit = slots or run.request.slots
    return [_merge(walk.name, [_one(walk, group, pool, limit) for group in groups], groups) for walk in walks]


def known(run: Run, walk: Walk) -> bool:
    """Whether the run recorded every score that this walk would look at."""
    return walk.path == Walk("greedy") or not any(serial(cycle) for cycle in run.cycles)


def limited(replayed: Replay, slots: int) -> Replay:
    """The same walk with at most so many slots submitted: its path is the same, and ends earlier."""
    accepted = np.minimum(replayed.accepted, slots)
    return replayed._replace(
        submitted=np.minimum(replayed.submitted, slots),
        accepted=accepted,
        committed=np.minimum(accepted + 1, replayed.committed),  # those are clipped at the end of the text
    )


def paired(a: Replay, b: Replay) -> Paired:
    """`a` against `b`, two walks replayed on the same run."""
    difference = a.accepted - b.accepted
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    return Paired(float(difference.mean()), better, worse, len(difference) - better - worse)


def histogram(replayed: Replay) -> np.ndarray:
    """How many cycles accepted 0, 1, ..., B tokens.

    Returns:
        [B + 1] int64.
    """
    return np.bincount(replayed.accepted, minlength=replayed.ranks.shape[1] + 1)


def deviations(run: Run) -> list[Deviation]:
    """Where the run's own walk, over the scores as they were recorded, chooses other candidates than the engine did.

    The engine chose by float32 scores and the record holds float16, in which two may tie: the record stays what the
    engine chose.
    """
    own = replay(run, [run.request.walk])[0]
    walk, out = parse(run.request.walk), []
    for row, index in enumerate(own.cycles):
        cycle = run.cycles[index]
        ranks = own.ranks[row, : len(cycle.ranks)]
        if not (different := np.flatnonzero(ranks != cycle.ranks)).size:
            continue
        accepted = int(own.committed[row]) - len(cycle.committed) if cycle.submitted else 0
        out.append(Deviation(int(index), int(different[0]), _margin(walk, cycle, ranks), accepted))
    return out


def path_scores(cycle: Cycle, ranks: np.ndarray) -> np.ndarray:
    """S of every step of a path: [B-1] float64; nan where the path is outside the pool."""
    steps = np.arange(len(ranks) - 1)
    if serial(cycle):  # the path is the recorded one
        return cycle.corrected[steps + 1, ranks[1:]].astype(np.float64)
    found = scores_of(cycle)[steps, ranks[:-1], ranks[1:]].astype(np.float64)
    found[(ranks[:-1] < 0) | (ranks[1:] < 0)] = np.nan
    return found


def _one(walk: Walk, blocks: Blocks, pool: int | None, limit: int) -> tuple[np.ndarray, ...]:
    k = min(pool or blocks.logits.shape[-1], blocks.logits.shape[-1])
    if blocks.scores is None:
        ranks = blocks.ranks
    else:
        ranks = choose(walk, blocks.first[:, None, :k], blocks.scores[..., :k, :k])  # [N, B]
    chosen = ranks.unsqueeze(-1)
    if walk.auto:
        submitted = blocks.submitted.clamp(max=limit)
    else:
        submitted = lengths(walk, blocks.logprobs.gather(-1, chosen).squeeze(-1)).clamp(max=limit)
    good = blocks.held.gather(-1, chosen).squeeze(-1)
    good &= torch.arange(ranks.shape[-1]) < submitted[:, None]
    accepted = good.long().cumprod(-1).sum(-1).numpy()
    return ranks.numpy(), submitted.numpy(), accepted, np.minimum(accepted + 1, blocks.left)


def _merge(name: str, parts: list[tuple[np.ndarray, ...]], groups: list[Blocks]) -> Replay:
    """The groups of one run in the order of their cycles."""
    longest = max(ranks.shape[1] for ranks, *_ in parts)
    cycles = np.concatenate([group.cycles for group in groups])
    order = np.argsort(cycles)
    padded = [np.pad(r, ((0, 0), (0, longest - r.shape[1])), constant_values=-1) for r, *_ in parts]
    columns = [np.concatenate(column)[order] for column in (padded, *list(zip(*parts, strict=True))[1:])]
    return Replay(name, cycles[order], *columns)


def _margin(walk: Walk, cycle: Cycle, ranks: np.ndarray) -> float:
    """What the rule sees between two paths: one step for a walk that looks at one, else its weighted sum."""
    ours, theirs = path_scores(cycle, ranks), path_scores(cycle, cycle.ranks.astype(np.int64))
    slot = int(np.flatnonzero(ranks != cycle.ranks)[0])
    if slot == 0:
        first = first_of(cycle)
        return float(first[ranks[0]] - first[max(int(cycle.ranks[0]), 0)])
    if walk.rule == "greedy":
        return float(ours[slot - 1] - theirs[slot - 1])
    weights = walk.weight ** np.arange(len(ours))
    return float(((ours - theirs) * weights).sum())
