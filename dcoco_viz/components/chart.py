"""A chart: one Plotly figure, or several beside each other, with a caption, a definition and the numbers as a table."""

from typing import Any

from dcoco_viz.components import plotlyjs
from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS


class Chart(View):
    """Draws what `chart` makes; a value of None takes no room.

    plotly.js is loaded when the first chart is seen. A new value goes into the plot that stands (`Plotly.react`), so
    zoom and hidden series stay. What a figure may hold, beside what Plotly says:
        "var(--name)"   as a colour or font: the page's CSS variable, read anew when the theme changes
        customdata      [shown, n] of every point: the text that the hover and the table show, and what it stands on
        hoverinfo       "skip" on a trace: decoration, left out of the table
    """

    def __init__(self, value: dict[str, Any] | None = None, **kwargs: Any):
        super().__init__(value, library=plotlyjs.ADDRESS, **kwargs)


def chart(
    title: str,
    definition: str,
    figure: dict[str, Any] | None = None,
    *,
    panels: dict[str, dict[str, Any]] | None = None,
    note: str = "",
) -> dict[str, Any]:
    """A value for a Chart.

    Args:
        definition: a name in metrics/names.py.
        figure: {data, layout}, from figures/. None, and no panels: the note says why there is nothing to draw.
        panels: figures by label, drawn beside each other, in place of `figure`.
        note: sentences under the title.
    """
    drawn = panels if panels is not None else {"": figure} if figure else {}
    return {
        "title": title,
        "note": note,
        "definition": DEFINITIONS[definition]._asdict(),
        "panels": [{"label": label, "figure": figure} for label, figure in drawn.items()],
    }
