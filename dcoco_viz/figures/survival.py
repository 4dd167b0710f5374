"""How far three paths through a block get: by slot, and as a budget of the block's slots."""

import plotly.graph_objects as go

from dcoco_viz.figures.look import Look
from dcoco_viz.figures.style import INK, LINE, MUTED, Figure, by_slot, curve, figure, layout, shown
from dcoco_viz.metrics.survival import Budget, Survival

PARTS = {  # of the budget: name -> Budget's attribute
    "top-1 prefix": "top1",
    "selected − top-1: head gains": "gained",
    "oracle − selected: ranking loses": "ranking",
    "B − oracle: coverage loses": "coverage",
}


def survival_by_slot(found: Survival, look: Look) -> Figure:
    """P(prefix >= j): oracle, the chosen path in the method's colour, and the drafter's argmax."""
    counts = [found.blocks] * len(found.share["oracle"])
    traces = [
        curve("oracle", found.share["oracle"], counts, colour=MUTED, marker="square", dash="dot", of="blocks"),
        curve("selected", found.share["selected"], counts, colour=look.colour, marker=look.marker, of="blocks"),
        curve("top-1", found.share["top1"], counts, colour=INK, marker="circle", dash="dash", of="blocks"),
    ]
    traces[1].line.width = 4  # the argmax runs over it, and both are seen where they are one
    traces[2].marker.size = 5
    return figure(traces, by_slot(len(counts), "share of blocks at least so long"))


def budget_bars(series: list[tuple[str, Look, Budget, int]]) -> Figure:
    """What becomes of a block's slots on average, one stacked bar a series (name, look, budget, blocks).

    Where the head loses, its part is what it loses, crossed out, and lies within what ranking loses.
    """
    fills = {
        "top1": ([look.colour for _, look, *_ in series], [""] * len(series)),
        "gained": ([look.colour for _, look, *_ in series], ["/" if b.gained >= 0 else "x" for *_, b, _ in series]),
        "ranking": ([MUTED] * len(series), ["\\"] * len(series)),
        "coverage": ([LINE] * len(series), [""] * len(series)),
    }
    traces = []
    for name, part in PARTS.items():
        colours, patterns = fills[part]
        traces.append(
            go.Bar(
                name=name,
                orientation="h",
                y=[name for name, *_ in series],
                x=[width(b, part) for *_, b, _ in series],
                customdata=[[shown(getattr(b, part)), n] for *_, b, n in series],
                text=[shown(getattr(b, part), 2) for *_, b, _ in series],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": INK},
                marker={
                    "color": colours,
                    "opacity": 0.45 if part == "top1" else 1,  # ink reads on a faint fill, in both themes
                    "line": {"color": INK, "width": 1},
                    "pattern": {"shape": patterns, "fillmode": "replace", "size": 7, "solidity": 0.14},
                },
                hovertemplate="%{fullData.name}: %{customdata[0]} slots<br>"
                "mean of %{customdata[1]} blocks<extra></extra>",
            )
        )
    longest = max((b.slots for *_, b, _ in series), default=0)
    return figure(
        traces,
        layout(
            {"title": "slots of a block", "range": [0, longest], "tickangle": 0},
            {"title": "", "autorange": "reversed", "showgrid": False},
            height=150 + 44 * len(series),
            barmode="stack",
            bargap=0.35,
            legend_traceorder="normal",
            uniformtext={"minsize": 10, "mode": "hide"},
        ),
    )


def width(budget: Budget, part: str) -> float:
    """Of one part in the bar; the four make up the block's slots, also where the head loses."""
    low, high = sorted((budget.top1, budget.selected))
    return {"top1": low, "gained": high - low, "ranking": budget.oracle - high, "coverage": budget.coverage}[part]
