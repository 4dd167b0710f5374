"""The race: the texts of several runs, token by token, on one time axis."""

from typing import Any

from dcoco_viz.components.compared import Entry, line, names, pieces, special
from dcoco_viz.components.view import View
from dcoco_viz.metrics.compare import arrivals
from dcoco_viz.metrics.names import DEFINITIONS

SPEEDS = (0.25, 0.5, 1, 2, 4)


class Race(View):
    """Replays the runs together, in the browser alone; a click on a token opens its cycle."""

    def __init__(self, **kwargs: Any):
        super().__init__(speeds=list(SPEEDS), clock=DEFINITIONS["race"]._asdict(), **kwargs)


def race(entries: list[Entry]) -> dict[str, Any]:
    """A value: the typical run of every entry, with the moment of every token in milliseconds."""
    runs = [entry.run for entry in entries]
    return {
        "runs": [
            {**name, **line(run), "at": [round(ms, 3) for ms in arrivals(run).tolist()], "finish": run.finish_reason}
            for name, run in zip(names(entries), runs, strict=True)
        ],
        "pieces": pieces(runs, (token for run in runs for token in run.token_ids)),
        "special": special(runs),
    }
