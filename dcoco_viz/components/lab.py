"""The table of walks of the path lab, with its numbers as they stand on the page."""

from typing import TYPE_CHECKING, Any

from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS

if TYPE_CHECKING:  # the lab loads torch, which takes seconds
    from dcoco_viz.lab.table import Row

COLUMNS = ("replay_accepted", "replay_difference", "replay_submitted", "dense_tau", "estimated_tokens_per_second")


class Lab(View):
    """One row a walk. Its event `drop` takes a row away: {walk}."""

    def __init__(self, **kwargs: Any):
        columns = [{"name": name, **DEFINITIONS[name]._asdict()} for name in COLUMNS]
        super().__init__(columns=columns, **kwargs)


def empty(sentence: str) -> dict[str, Any]:
    """A value for a Lab that has no run to show."""
    return {"empty": sentence, "notes": [], "details": [], "rows": []}


def full(rows: "list[Row]", *, own: str, exact: bool, notes: list[str], details: list[str]) -> dict[str, Any]:
    """A value for a Lab.

    Args:
        own: canonical name of the run's own walk.
        exact: at temperature 0; otherwise lengths are agreement with the sampled text.
        notes, details: sentences above and under the table.
    """
    return {"empty": "", "exact": exact, "notes": notes, "details": details, "rows": [_row(row, own) for row in rows]}


def _row(row: "Row", own: str) -> dict[str, Any]:
    difference, better, worse, equal = row.paired
    return {
        "walk": row.walk,
        "own": row.walk == own,
        "replay_accepted": f"{row.accepted:.3f}",
        "replay_difference": "" if row.walk == own else signed(difference, 3),
        "cycles": [better, worse, equal],
        "replay_submitted": f"{row.submitted:.2f}",
        "dense_tau": None if row.tau is None else f"{row.tau:.3f}",
        "estimated_tokens_per_second": None if row.tokens_per_second is None else f"{row.tokens_per_second:.1f}",
        "histogram": row.histogram.tolist(),
    }


def signed(value: float, digits: int) -> str:
    """With its sign, and a true minus."""
    return f"{value:+.{digits}f}".replace("-", "−")
