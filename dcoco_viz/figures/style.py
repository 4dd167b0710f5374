"""What all figures share: surfaces, axes, how a curve by slot is drawn, and how a number is written."""

import math
from collections.abc import Iterable
from typing import Any

import plotly.graph_objects as go

INK, MUTED, LINE, PANEL = "var(--dv-ink)", "var(--dv-muted)", "var(--dv-line)", "var(--dv-panel)"
SANS, MONO = "var(--dv-sans)", "var(--dv-mono)"
NOTHING = "–"
FEW = 20  # a point on fewer observations is drawn open
GAP = 2  # slots between the last one and what sums them up

Figure = dict[str, Any]


def figure(traces: list[go.Scatter | go.Bar], layout: go.Layout) -> Figure:
    """{data, layout} as JSON, without Plotly's template: the page has its own look."""
    return {"data": [trace.to_plotly_json() for trace in traces], "layout": layout.to_plotly_json()}


def layout(across: dict[str, Any], up: dict[str, Any], *, height: int = 320, **more: Any) -> go.Layout:
    """Surfaces, fonts, axes and legend.

    Args:
        across, up: Plotly's settings of the x and the y axis; `title` may be a string.
        height: pixels; the width is the page's.
    """
    axis = {
        "gridcolor": LINE,
        "linecolor": MUTED,
        "zerolinecolor": LINE,
        "tickcolor": MUTED,
        "tickfont": {"family": MONO, "size": 11, "color": MUTED},
        "title_font": {"family": SANS, "size": 12, "color": MUTED},
        "title_standoff": 8,
        "automargin": True,
    }
    base = {
        "height": height,
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
        "paper_bgcolor": PANEL,
        "plot_bgcolor": PANEL,
        "font": {"family": SANS, "size": 12, "color": INK},
        "hoverlabel": {"bgcolor": PANEL, "bordercolor": INK, "font": {"family": SANS, "size": 12, "color": INK}},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}, "bgcolor": PANEL},
        "xaxis": {**axis, **across},
        "yaxis": {**axis, **up},
    }
    return go.Layout(**(base | more))


def by_slot(slots: int, up: str, summed: str = "", **more: Any) -> go.Layout:
    """Shares over slots 1..slots, every second one named so that a phone has room, and behind them `summed`."""
    ticks = list(range(1, slots + 1, 2))
    end = slots + (GAP if summed else 0)
    names = [str(tick) for tick in ticks] + [summed] * bool(summed)
    rule = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"color": MUTED, "width": 1, "dash": "dot"}}
    return layout(
        {
            "title": "slot",
            "tickvals": ticks + [end] * bool(summed),
            "ticktext": names,
            "range": [0.4, end + 0.8],
            "tickangle": 0,
            "showgrid": False,
        },
        {"title": up, "range": [-0.03, 1.03], "dtick": 0.2, "tickformat": ".1f"},
        shapes=[{**rule, "x0": slots + GAP / 2, "x1": slots + GAP / 2}] if summed else [],
        hovermode="x unified",
        **more,
    )


def curve(
    name: str,
    values: Iterable[float],
    counts: Iterable[int],
    *,
    colour: str,
    marker: str,
    dash: str = "solid",
    of: str = "slots",
    **more: Any,
) -> go.Scatter:
    """One share by slot, with what it stands on; thin data is drawn open.

    Args:
        values: of slots 1, 2, ...; nan: no data, a gap.
        counts: observations of each.
        marker: Plotly's name of a filled marker.
        of: what is counted.
    """
    values, counts = [float(value) for value in values], [int(count) for count in counts]
    return go.Scatter(
        name=name,
        x=list(range(1, len(values) + 1)),
        y=[None if math.isnan(value) else value for value in values],
        customdata=[[shown(value), count] for value, count in zip(values, counts, strict=True)],
        mode="lines+markers",
        line={"color": colour, "dash": dash, "width": 1.75},
        marker={
            "color": colour,
            "size": 7,
            "symbol": [marker if count >= FEW else f"{marker}-open" for count in counts],
            "line": {"color": colour, "width": 1.5},
        },
        hovertemplate=f"%{{customdata[0]}} of %{{customdata[1]}} {of}",
        **more,
    )


def point(name: str, at: float, value: float, note: str, *, colour: str, symbol: str, **more: Any) -> go.Scatter:
    """A single mark; `note` follows its number in the hover."""
    return go.Scatter(
        name=name,
        x=[at],
        y=[value],
        customdata=[[shown(value)]],
        mode="markers",
        marker={"color": colour, "symbol": symbol, "size": 9, "line": {"color": colour, "width": 1.5}},
        hovertemplate=f"%{{customdata[0]}} {note}",
        **more,
    )


def shown(value: float | None, digits: int = 3) -> str:
    """A number as the page writes it; a dash where there is none."""
    return NOTHING if value is None or math.isnan(value) else f"{value:.{digits}f}"
