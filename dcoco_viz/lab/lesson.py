"""Why the best sum can lose to prefix-first: the cycle of a run that shows it, in numbers."""

from typing import NamedTuple

from dcoco_viz.lab.parting import Picture, partings, picture
from dcoco_viz.lab.replay import Paired, Replay, paired, replay
from dcoco_viz.trace.schema import Run


class Lesson(NamedTuple):
    """Greedy and global-sum over whole blocks: all candidates and all slots that were recorded."""

    greedy: Replay
    total: Replay
    paired: Paired  # global-sum against greedy
    parted: int  # cycles in which their paths differ
    lost: Picture | None  # where global-sum lost most against greedy; greedy's path is the first of the two
    won: Picture | None  # where it won most
    scored: bool  # whether the scores came from a head


def lesson(run: Run) -> Lesson:
    """What this run has to teach.

    Raises:
        ValueError: it holds no candidates, or a serial head's.
    """
    greedy, total = replay(run, ["greedy", "global-sum"], slots=_longest(run))
    apart = partings(greedy, total)
    lost = next((p for p in apart if p.accepted[1] < p.accepted[0]), None)
    won = next((p for p in apart if p.accepted[1] > p.accepted[0]), None)
    show = [p and picture(run, p.cycle, greedy, total) for p in (lost, won)]
    scored = any(cycle.scores is not None for cycle in run.cycles)
    return Lesson(greedy, total, paired(total, greedy), len(apart), *show, scored)


def _longest(run: Run) -> int | None:
    return max((len(cycle.candidates) for cycle in run.cycles if cycle.candidates is not None), default=None)
