"""Coverage by slot, and what the pool could save of a wrong first choice."""

import plotly.graph_objects as go

from dcoco_viz.figures.look import Look
from dcoco_viz.figures.style import GAP, INK, Figure, by_slot, curve, figure, point
from dcoco_viz.metrics.coverage import Coverage, Saveable
from dcoco_viz.metrics.paper import Mark, Paper

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")  # by k, from the smallest
HOLLOW = {1: "star-open", 16: "hexagram-open"}  # the paper's marks, by k


def coverage_by_slot(found: Coverage, colour: str, paper: Paper | None = None) -> Figure:
    """coverage@k at every slot and its mean, one curve a k.

    Args:
        paper: whose marks stand beside them; None: no marks.
    """
    slots = _slots(len(found.counts), paper.coverage if paper else ())
    traces = _marks(paper.model, paper.coverage, slots) if paper else []  # beneath what was measured
    for (k, share), symbol in reversed(list(zip(found.share.items(), SYMBOLS, strict=False))):
        name = f"top-{k}"
        traces.append(curve(name, share, found.counts, colour=colour, marker=symbol, legendgroup=name))
        if (mean := found.mean(k)) is not None:
            over = f"mean over {int((found.counts > 0).sum())} slots"
            at = slots + GAP
            traces.append(
                point(name, at, mean, over, colour=colour, symbol=symbol, legendgroup=name, showlegend=False)
            )
    return figure(traces, by_slot(slots, "share of slots", "mean", height=380))


def saveable_by_slot(series: list[tuple[str, Look, Saveable]], paper: Paper | None = None) -> Figure:
    """Share of wrong argmax slots whose truth is in the pool, by slot and in all, one curve a series."""
    slots = _slots(max((len(found.wrong) for *_, found in series), default=0), ())
    traces = _marks(paper.model, paper.saveable, slots) if paper else []
    for name, look, found in series:
        style = {"colour": look.colour, "legendgroup": name}
        traces.append(
            curve(name, found.share, found.wrong, marker=look.marker, dash=look.dash, of="wrong slots", **style)
        )
        if found.in_all is not None:
            note = f"of {found.wrong.sum()} wrong slots in all"
            traces.append(
                point(name, slots + GAP, found.in_all, note, symbol=look.marker, showlegend=False, **style)
            )
    return figure(traces, by_slot(slots, "share of wrong slots", "all"))


def _slots(drafted: int, marks: tuple[Mark, ...]) -> int:
    """As many as the axis needs for what was drafted and what is marked."""
    return max([drafted, *(mark.slot for mark in marks if isinstance(mark.slot, int))])


def _marks(model: str, marks: tuple[Mark, ...], slots: int) -> list[go.Scatter]:
    """Hollow marks, one legend entry a k, the last ones of the legend."""
    traces = []
    for k in sorted({mark.k for mark in marks}, reverse=True):
        mine = [mark for mark in marks if mark.k == k]
        traces.append(
            go.Scatter(
                name=f"paper, {model}: top-{k}",
                x=[mark.slot if isinstance(mark.slot, int) else slots + GAP for mark in mine],
                y=[mark.share for mark in mine],
                customdata=[[mark.shown] for mark in mine],
                mode="markers",
                legendrank=2000,
                marker={"color": INK, "symbol": HOLLOW[k], "size": 15, "line": {"color": INK, "width": 1.25}},
                hovertemplate="%{customdata[0]}",
            )
        )
    return traces
