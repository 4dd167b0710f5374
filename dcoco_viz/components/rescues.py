"""What the head changed in a run, and what came of it."""

from typing import Any

from dcoco_viz.components.compared import Entry, names, pieces
from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS
from dcoco_viz.metrics.rescue import Rescues as Found
from dcoco_viz.metrics.rescue import rescues as count

TOTALS = ("changed", "helped", "harmed", "neutral", "rescue_rate", "harm_rate", "slots_rescued", "slots_harmed")


class Rescues(View):
    """Totals, and the cycles that changed most; a click opens one of them."""

    def __init__(self, **kwargs: Any):
        totals = [{"name": name, **DEFINITIONS[name]._asdict()} for name in TOTALS]
        super().__init__(totals=totals, gain=DEFINITIONS["gain"]._asdict(), **kwargs)


def rescues(entries: list[Entry]) -> dict[str, Any]:
    """A value: the typical run of every entry whose cycles were scored by a head."""
    runs = [entry.run for entry in entries]
    found = [(name, run, count(run)) for name, run in zip(names(entries), runs, strict=True)]
    scored = [(name, run, these) for name, run, these in found if these is not None]
    ids = [token for _, _, these in scored for c in these.changes for token in (c.argmax, c.chosen, c.truth)]
    return {
        "all": [run.id for run in runs],
        "runs": [
            {
                **name,
                "greedy": run.request.temperature == 0,
                "totals": totals(these),
                "cycles": these.cycles,
                "gained": these.gained,
                "lost": these.lost,
                "changes": [change._asdict() | {"gain": change.gain} for change in these.changes],
            }
            for name, run, these in scored
        ],
        "pieces": pieces(runs, ids),
    }


def totals(found: Found) -> dict[str, str | None]:
    """Every number of TOTALS as it stands on the page."""
    return {name: _shown(getattr(found, name)) for name in TOTALS}


def _shown(value: int | float | None) -> str | None:
    return f"{100 * value:.1f} %" if isinstance(value, float) else value if value is None else str(value)
