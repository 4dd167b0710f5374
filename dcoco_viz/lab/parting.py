"""Where two walks part, and what each saw there."""

from typing import NamedTuple

import numpy as np

from dcoco_viz.lab.replay import Replay, path_scores
from dcoco_viz.metrics.prefix import truth
from dcoco_viz.trace.schema import Run


class Parting(NamedTuple):
    """A cycle in which two walks submit different tokens, or different numbers of them."""

    cycle: int  # index in the run
    slot: int  # the first that differs, from 0
    accepted: tuple[int, int]


class Node(NamedTuple):
    """A candidate that a path takes or the text holds."""

    rank: int
    token: int
    probability: float | None  # the drafter's; None where the normaliser was not recorded
    on: tuple[bool, bool]  # whose path it is on
    true: bool  # the token that was committed there


class Path(NamedTuple):
    """One of the two walks through the cycle."""

    walk: str
    ranks: list[int]  # [B]
    tokens: list[int]  # [B]
    steps: list[float]  # [B-1] S of every transition
    sums: list[float]  # [B] of the transitions so far; 0 at the first slot
    submitted: int
    accepted: int


class Picture(NamedTuple):
    """A cycle with both paths over its candidates."""

    cycle: int
    anchor: int
    nodes: list[list[Node]]  # by slot, ranks ascending; only those involved
    truth: list[int]  # [B] token ids; -1 past the end of the text
    paths: tuple[Path, Path]

    @property
    def parts(self) -> int | None:
        """The first slot, from 0, at which the two paths differ; None where they are one."""
        a, b = (path.ranks for path in self.paths)
        return next((slot for slot, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), None)


def partings(a: Replay, b: Replay) -> list[Parting]:
    """Where two replays of one run differ; the greatest difference of accepted length first, then by cycle."""
    found = []
    for row, cycle in enumerate(a.cycles.tolist()):
        ours, theirs = (r.ranks[row, : r.submitted[row]].tolist() for r in (a, b))
        if ours != theirs:
            same = [x == y for x, y in zip(ours, theirs, strict=False)]
            slot = same.index(False) if False in same else len(same)
            found.append(Parting(cycle, slot, (int(a.accepted[row]), int(b.accepted[row]))))
    return sorted(found, key=lambda p: (-abs(p.accepted[0] - p.accepted[1]), p.cycle))


def picture(run: Run, index: int, a: Replay, b: Replay) -> Picture:
    """The picture of cycle `index` of the run.

    Raises:
        ValueError: this cycle was not replayed.
    """
    rows = np.flatnonzero(a.cycles == index)
    if not rows.size:
        raise ValueError("This cycle holds no candidates.")
    cycle, true = run.cycles[index], truth(run, run.cycles[index])
    paths = tuple(_path(cycle, replayed, int(rows[0])) for replayed in (a, b))
    nodes = [_nodes(cycle, slot, int(true[slot]), paths) for slot in range(len(true))]
    return Picture(index, cycle.anchor, nodes, true.tolist(), paths)


def _path(cycle, replayed: Replay, row: int) -> Path:
    ranks = replayed.ranks[row, : len(cycle.candidates)]
    tokens = cycle.candidates[np.arange(len(ranks)), ranks]
    steps = path_scores(cycle, ranks)
    sums = np.concatenate([[0.0], np.cumsum(steps)])
    ends = int(replayed.submitted[row]), int(replayed.accepted[row])
    return Path(replayed.walk, ranks.tolist(), tokens.tolist(), steps.tolist(), sums.tolist(), *ends)


def _nodes(cycle, slot: int, true: int, paths: tuple[Path, Path]) -> list[Node]:
    held = np.flatnonzero(cycle.candidates[slot] == true).tolist()
    ranks = sorted({paths[0].ranks[slot], paths[1].ranks[slot], *held})
    tokens, logits = cycle.candidates[slot], cycle.logits[slot].astype(np.float64)
    norm = None if cycle.lognorm is None else float(cycle.lognorm[slot])
    return [
        Node(
            rank,
            int(tokens[rank]),
            None if norm is None else float(np.exp(logits[rank] - norm)),
            (paths[0].ranks[slot] == rank, paths[1].ranks[slot] == rank),
            rank in held,
        )
        for rank in ranks
    ]
