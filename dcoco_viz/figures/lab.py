"""What every number of slots would have made of a text."""

import plotly.graph_objects as go

from dcoco_viz.figures.style import INK, Figure, figure, layout, shown


def by_slots(
    slots: list[int], tau: list[float], speed: list[float | None], method: str, best: int | None
) -> dict[str, Figure]:
    """A panel for τ and one for tok/s, in the method's colour, with the fastest number of slots marked in both.

    Args:
        slots: numbers of slots, ascending.
        speed: estimated tok/s at each; None where a cycle's cost was not measured.
        best: the fastest of `slots`; None where no speed is known.
    """
    panels = {"τ": _panel("τ", slots, tau, 3, method, best)}
    if any(value is not None for value in speed):
        panels["tok/s (estimate)"] = _panel("tok/s", slots, speed, 1, method, best)
    return panels


def _panel(
    name: str, slots: list[int], values: list[float | None], digits: int, method: str, best: int | None
) -> Figure:
    colour = f"var(--method-{method})"
    curve = go.Scatter(
        name=name,
        x=slots,
        y=values,
        customdata=[[shown(value, digits), None] for value in values],
        mode="lines+markers",
        line={"color": colour},
        marker={"color": colour, "size": 6},
        hovertemplate="%{x} slots: %{customdata[0]}<extra></extra>",
    )
    traces = [curve]
    if best is not None:
        at = slots.index(best)
        traces.append(
            go.Scatter(
                name="fastest",
                x=[best],
                y=[values[at]],
                mode="markers+text",
                text=[f"{best} {'slot' if best == 1 else 'slots'}: {shown(values[at], digits)}"],
                textposition="top right" if at < len(slots) / 2 else "top left",
                textfont={"color": INK},
                marker={"symbol": "diamond-open", "size": 15, "color": INK, "line": {"width": 2}},
                hoverinfo="skip",
            )
        )
    top = max(value for value in values if value is not None)
    up = {"title": name, "range": [0, 1.2 * top]}  # room for the mark's words
    ticks = slots[:: 1 if len(slots) < 8 else 2]  # a phone has room for these
    across = {"title": "slots submitted", "tickvals": ticks, "range": [slots[0] - 0.5, slots[-1] + 0.5], "tickangle": 0}
    return figure(traces, layout(across, up, height=280, showlegend=False, margin={"l": 52, "r": 16, "t": 10, "b": 44}))
