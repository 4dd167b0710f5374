"""What the head changed, cycle by cycle: the chosen path against the same drafter's argmax."""

from typing import NamedTuple

import numpy as np

from dcoco_viz.metrics.prefix import prefixes, truth
from dcoco_viz.trace.schema import Cycle, Run


class Change(NamedTuple):
    """A cycle in which the head made a slot right or wrong.

    A slot is rescued where the chosen token is the text's and the argmax is not, harmed where it is the other way
    round. Behind the first error of both paths neither counts for the accepted length.
    """

    cycle: int  # index, from 0
    rescued: tuple[int, ...]  # slots, from 1
    harmed: tuple[int, ...]
    top1: int  # accepted length of the argmax path
    selected: int  # accepted length of the chosen path
    slot: int  # that decided the gain; without a gain the first one rescued or harmed
    argmax: int  # token ids at that slot: the drafter's first candidate,
    chosen: int  # what the walk took,
    truth: int  # and what the text has

    @property
    def gain(self) -> int:
        return self.selected - self.top1


class Rescues(NamedTuple):
    """A run's cycles with a head, counted."""

    cycles: int
    changed: int  # the chosen path is not the argmax path
    helped: int  # of these: it is accepted further
    harmed: int  # less far
    gained: int  # tokens, over the helped cycles
    lost: int  # tokens, over the harmed ones
    slots_rescued: int  # wherever in the block
    slots_harmed: int
    changes: list[Change]  # the largest gain first, then the largest loss, then those without either

    @property
    def neutral(self) -> int:
        return self.changed - self.helped - self.harmed

    @property
    def rescue_rate(self) -> float | None:
        return self.helped / self.changed if self.changed else None

    @property
    def harm_rate(self) -> float | None:
        return self.harmed / self.changed if self.changed else None


def rescues(run: Run) -> Rescues | None:
    """Every cycle that a head scored; None where it scored none.

    Only slots that were submitted count (in a dense record: all), and of these the ones before the end of the text. At
    T = 0 `top1` and `selected` are what verification accepts.
    """
    scored = [cycle for cycle in run.cycles if cycle.scores is not None or cycle.corrected is not None]
    if not scored:
        return None
    changed = [cycle for cycle in scored if (cycle.ranks[: _reach(cycle)] != 0).any()]
    found = sorted(filter(None, (_change(run, cycle) for cycle in changed)), key=_place)
    gains = [change.gain for change in found]
    return Rescues(
        cycles=len(scored),
        changed=len(changed),
        helped=sum(gain > 0 for gain in gains),
        harmed=sum(gain < 0 for gain in gains),
        gained=sum(max(gain, 0) for gain in gains),
        lost=sum(max(-gain, 0) for gain in gains),
        slots_rescued=sum(len(change.rescued) for change in found),
        slots_harmed=sum(len(change.harmed) for change in found),
        changes=found,
    )


def _place(change: Change) -> tuple:
    return change.gain == 0, change.gain < 0, -abs(change.gain), change.cycle


def _reach(cycle: Cycle) -> int:
    return cycle.submitted or len(cycle.ranks)


def _change(run: Run, cycle: Cycle) -> Change | None:
    reach, true = _reach(cycle), truth(run, cycle)
    chosen = np.where(cycle.ranks >= 0, cycle.candidates[np.arange(len(true)), cycle.ranks], -1)
    chosen[: cycle.submitted] = cycle.drafted  # a submitted token from outside the pool is known too
    right, was = (chosen == true)[:reach], (cycle.candidates[:, 0] == true)[:reach]
    right, was = right & (true[:reach] >= 0), was & (true[:reach] >= 0)
    if (right == was).all():
        return None
    top1, selected, _ = np.minimum(prefixes(run, cycle), reach).tolist()
    at = min(top1, selected) if top1 != selected else int(np.argmax(right != was))
    return Change(
        cycle=cycle.index,
        rescued=tuple((np.flatnonzero(right & ~was) + 1).tolist()),
        harmed=tuple((np.flatnonzero(was & ~right) + 1).tolist()),
        top1=top1,
        selected=selected,
        slot=at + 1,
        argmax=int(cycle.candidates[at, 0]),
        chosen=int(chosen[at]),
        truth=int(true[at]),
    )
