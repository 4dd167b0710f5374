"""What a cycle costs by the number of slots it submits, from recorded runs, and what that makes of a simulation."""

from collections.abc import Iterable
from statistics import median

from dcoco_viz.lab.dense import Simulation
from dcoco_viz.trace.schema import Run

SAME = ("preset", "dtype", "hardware")  # of `Run.meta`: what decides how long a cycle takes


class Cost:
    """Median milliseconds of a cycle, draft and verify, at each number of slots that was measured."""

    def __init__(self, samples: dict[int, list[float]]):
        """`samples`: milliseconds of cycles by slots submitted."""
        self.points = {n: median(found) for n, found in sorted(samples.items()) if found}
        self.counts = {n: len(samples[n]) for n in self.points}

    def at(self, slots: int) -> float | None:
        """Milliseconds of a cycle that submits so many; linear between two measured numbers, None beyond them."""
        if slots in self.points:
            return self.points[slots]
        low = max((n for n in self.points if n < slots), default=None)
        high = min((n for n in self.points if n > slots), default=None)
        if low is None or high is None:
            return None
        share = (slots - low) / (high - low)
        return self.points[low] + share * (self.points[high] - self.points[low])


def measured(run: Run, runs: Iterable[Run]) -> Cost:
    """Costs of the run's method on its machine, from its own cycles and those of `runs`.

    Cycles without slots are those of method `none`. A dense trace says nothing: it drafts and submits no slot.
    """
    samples: dict[int, list[float]] = {}
    for other in {other.id: other for other in (run, *runs)}.values():
        method = other.request.method
        if method not in (run.request.method, "none") or other.request.record == "dense":
            continue
        if any(other.meta.get(key) != run.meta.get(key) for key in SAME):
            continue
        for cycle in other.cycles:
            if (cycle.submitted == 0) == (method == "none"):
                samples.setdefault(cycle.submitted, []).append(cycle.draft_ms + cycle.verify_ms)
    return Cost(samples)


def tokens_per_second(simulation: Simulation, cost: Cost) -> float | None:
    """1000 x committed tokens / milliseconds of the simulated cycles; None where one of them was not measured."""
    times = [cost.at(slots) for slots in simulation.submitted]
    if any(ms is None for ms in times) or not sum(times):
        return None
    return 1000 * sum(simulation.committed) / sum(times)
