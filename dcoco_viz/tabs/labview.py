"""What the path lab shows of a run under given settings. To be imported when it is needed: it loads torch."""

from typing import Any

from dcoco_viz.components import lab, labpage, parting
from dcoco_viz.components.chart import chart
from dcoco_viz.figures import lab as figures
from dcoco_viz.lab.cost import Cost, measured
from dcoco_viz.lab.dense import find
from dcoco_viz.lab.lesson import lesson
from dcoco_viz.lab.replay import AUTO, SERIAL, Deviation, deviations, known
from dcoco_viz.lab.table import best, by_slots, table
from dcoco_viz.lattice.walk import Walk, check, parse
from dcoco_viz.metrics.prefix import tau
from dcoco_viz.metrics.timing import tokens_per_second
from dcoco_viz.trace.schema import Run

ANCHORS_ONLY = (
    "Recorded anchors only: another accepted length moves the next anchor, so that no τ is claimed for a walk that the "
    "run did not take. A dense trace, with a proposal at every position of the text, gives it."
)


def serial(run: Run) -> bool:
    """Whether this run's head went slot by slot, so that only its own path can be replayed."""
    return not known(run, Walk("global-sum"))


def admit(run: Run, walk: str) -> None:
    """Raise ValueError, with one sentence, where this run has no scores for that walk."""
    if not known(run, parse(walk)):
        raise ValueError(SERIAL)
    if parse(walk).auto and parse(walk) != parse(run.request.walk):
        raise ValueError(AUTO)


def view(run: Run, walks: list[str], pool: int, slots: int, others: list[Run]) -> tuple[Any, Any, Any]:
    """Values of the table, the chart and the partings.

    Args:
        walks: canonical names beside the run's own; those that this run has no scores for are left out.
        others: runs among which a dense trace and cycle costs are looked for.
    """
    try:
        own = check(run.request.walk)
        others_known = [name for name in walks if known(run, parse(name)) and not parse(name).auto]
        names = list(dict.fromkeys([own, *others_known]))
        dense, cost = find(run, others), measured(run, others)
        rows = table(run, names, pool=pool, slots=slots, dense=dense, cost=cost)
        deviating = deviations(run)
    except ValueError as error:
        return lab.empty(f"{error}"), None, None
    notes = [_anchors(run, int(rows[0].histogram.sum())), ANCHORS_ONLY if dense is None else _dense(dense)]
    notes += [SERIAL] * serial(run)
    details = [_record(deviating), _costs(cost)]
    return (
        lab.full(rows, own=own, exact=run.request.temperature == 0, notes=notes, details=details),
        _chart(dense, own, cost, pool),
        parting.value(run, names, pool=pool, slots=slots),
    )


def page(run: Run) -> dict[str, Any]:
    """The page of text about a run that holds candidates."""
    return labpage.page(run, None if serial(run) else lesson(run))


def _anchors(run: Run, count: int) -> str:
    if run.request.temperature > 0:
        return (
            f"{count} recorded cycles at temperature {run.request.temperature:g}: lengths are agreement with the text "
            "that was sampled, not what verification would have accepted."
        )
    if run.request.record == "dense":
        return f"{count} proposals, one at every position of the text, exact at temperature 0."
    speed, found = tokens_per_second(run), tau(run)
    return f"{count} recorded cycles, exact one by one at temperature 0. The run itself: τ {found:.3f}" + (
        f", {speed:.1f} tok/s measured." if speed else "."
    )


def _record(found: list[Deviation]) -> str:
    """How faithfully the run's own walk replays."""
    if not found:
        return "The run's own walk replays every cycle as the engine chose it."
    cycles = ", ".join(str(d.cycle + 1) for d in found[:8]) + (" …" if len(found) > 8 else "")
    margin, moved = max(abs(d.margin) for d in found), sum(d.accepted != 0 for d in found)
    return (
        f"In {len(found)} cycles ({cycles}) the run's own walk replays another path than the engine chose: recorded "
        f"scores have 16 bits and let candidates tie that 32 bits told apart (widest margin {margin:.3f} logits). The "
        f"record stays what the engine chose; {moved or 'no'} accepted lengths differ."
    )


def _dense(dense: Run) -> str:
    return (
        f"Dense trace of {len(dense.cycles)} positions: τ is that of the whole text decoded with each walk, K and "
        "slots as chosen above."
    )


def _costs(cost: Cost) -> str:
    if not cost.points:
        return "No cycle cost was measured, so there is no estimate of tok/s."
    points = ", ".join(f"{ms:.1f} ms at {slots} (n {cost.counts[slots]})" for slots, ms in cost.points.items())
    return f"Cycle cost, median of draft + verify by slots submitted: {points}."


def _chart(dense: Run | None, own: str, cost: Cost, pool: int) -> dict[str, Any] | None:
    if dense is None or not (choices := by_slots(dense, own, cost, pool=pool)):
        return None
    top = best(choices)
    unknown = [str(choice.slots) for choice in choices if choice.tokens_per_second is None]
    note = (
        f"Best number of slots for {own}: {top.slots}, with τ {top.tau:.3f} and {top.tokens_per_second:.1f} tok/s."
        if top
        else "No cycle cost was measured for these numbers of slots: Measure cycle cost gives tok/s and the optimum."
    )
    if top and unknown:
        note += f" Not measured at {', '.join(unknown)} slots."
    columns = ([getattr(choice, name) for choice in choices] for name in choices[0]._fields)
    panels = figures.by_slots(*columns, dense.request.method, top and top.slots)
    return chart("By number of slots", "estimated_tokens_per_second", panels=panels, note=note)
