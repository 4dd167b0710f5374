"""One way of walking beside another, and whether the direction is the paper's."""

from typing import NamedTuple

from dcoco_viz.findings.paper import Claim, paper
from dcoco_viz.findings.results import Interval, Results

AGREE, DIFFER, NULL, MISSING = "agree", "differ", "no difference shown", "not measured"


class Compared(NamedTuple):
    """The paired difference of tau, a less b; None where it was not measured."""

    a: str
    b: str
    gap: Interval | None
    outside: Interval | None  # the same over cycles outside loops
    base: float | None  # b's tau
    claim: Claim | None  # None: the paper has no value that we know

    @property
    def percent(self) -> Interval | None:
        """The difference in percent of b's tau."""
        if self.gap is None:
            return None
        low, high = self.gap.interval
        return Interval(tau=100 * self.gap.tau / self.base, interval=(100 * low / self.base, 100 * high / self.base))

    @property
    def side(self) -> str:
        """Where a's tau lies, seen from b's."""
        return side(self.gap.interval) if self.gap else MISSING

    @property
    def verdict(self) -> str:
        """`side`, and where the paper has a direction, whether it is the same one."""
        if self.claim is None or self.side in (NULL, MISSING):
            return self.side
        return AGREE if self.side == self.claim.direction else DIFFER


def side(interval: tuple[float, float]) -> str:
    """Where a difference with this interval lies: above or below zero, or neither where the interval holds zero."""
    low, high = interval
    if low <= 0 <= high:
        return NULL
    return "above" if low > 0 else "below"


def compare(section: str, results: Results | None, pairs: list[tuple[str, str]]) -> list[Compared]:
    """The paper's claims of a section, in its order, then `pairs`, then what else the results compare, by name.

    Args:
        pairs: (a, b), ways of the results.
    """
    claims = {(claim.a, claim.b): claim for claim in paper().claims(section)}
    wanted = dict.fromkeys([*claims, *pairs])
    for name in sorted(results.difference if results else ()):
        a, _, b = name.partition(" - ")
        if (b, a) not in wanted:
            wanted[a, b] = None
    return [_one(results, a, b, claims.get((a, b))) for a, b in wanted]


def _one(results: Results | None, a: str, b: str, claim: Claim | None) -> Compared:
    found = results.difference if results else {}
    if f"{a} - {b}" in found:
        difference = found[f"{a} - {b}"]
        pooled, outside = difference.pooled, difference.without_loop_tokens
    elif f"{b} - {a}" in found:
        difference = found[f"{b} - {a}"]
        pooled, outside = _turned(difference.pooled), _turned(difference.without_loop_tokens)
    else:
        return Compared(a, b, None, None, None, claim)
    return Compared(a, b, pooled, outside, results.figures[b].pooled.tau, claim)


def _turned(value: Interval) -> Interval:
    low, high = value.interval
    return Interval(tau=-value.tau, interval=(-high, -low))
