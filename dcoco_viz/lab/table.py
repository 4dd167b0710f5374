"""Walks side by side on one run."""

from typing import NamedTuple

import numpy as np

from dcoco_viz.lab.cost import Cost, tokens_per_second
from dcoco_viz.lab.dense import simulate
from dcoco_viz.lab.replay import Paired, histogram, limited, paired, replay
from dcoco_viz.lattice.walk import parse
from dcoco_viz.trace.schema import Run


class Row(NamedTuple):
    """One walk in numbers; None where there is nothing to measure. Formulas: metrics/names.py."""

    walk: str
    accepted: float  # mean over recorded anchors
    paired: Paired  # against the run's own walk under the same K and slots
    submitted: float  # mean slots
    histogram: np.ndarray  # [B + 1] cycles by accepted length
    tau: float | None  # from a dense trace
    tokens_per_second: float | None  # estimate, from the dense trace and measured cycle costs


class Choice(NamedTuple):
    """One number of slots for a walk."""

    slots: int
    tau: float
    tokens_per_second: float | None


def table(
    run: Run, names: list[str], *, pool: int | None, slots: int | None, dense: Run | None, cost: Cost
) -> list[Row]:
    """A row a walk, in the order of `names`.

    Raises:
        ValueError: see `replay`.
    """
    own, *others = replay(run, [run.request.walk, *names], pool=pool, slots=slots)
    runs = [None] * len(names)
    if dense is not None:
        limit = slots or run.request.slots  # the dense request's own number of slots means nothing
        for i, name in enumerate(names):
            if not parse(name).auto:  # a dense record submitted nothing
                runs[i] = simulate(dense, replay(dense, [name], pool=pool, slots=limit)[0])
    return [
        Row(
            r.walk,
            r.mean,
            paired(r, own),
            float(r.submitted.mean()),
            histogram(r),
            s and s.tau,
            s and tokens_per_second(s, cost),
        )
        for r, s in zip(others, runs, strict=True)
    ]


def by_slots(dense: Run, name: str, cost: Cost, *, pool: int | None = None) -> list[Choice]:
    """What every number of slots, 1 to B, would have made of a text; empty where it has one token."""
    longest = max(len(cycle.candidates) for cycle in dense.cycles if cycle.candidates is not None)
    name = parse(name)._replace(auto=False).name
    whole, found = replay(dense, [name], pool=pool, slots=longest)[0], []
    for slots in range(1, longest + 1):
        if (simulation := simulate(dense, limited(whole, slots))) is not None:
            found.append(Choice(slots, simulation.tau, tokens_per_second(simulation, cost)))
    return found


def best(choices: list[Choice]) -> Choice | None:
    """The fastest; of equals the one with fewer slots. None where no speed is known."""
    known = [choice for choice in choices if choice.tokens_per_second is not None]
    return max(known, key=lambda choice: (choice.tokens_per_second, -choice.slots), default=None)
