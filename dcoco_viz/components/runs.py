"""All runs of a visitor, to be found, opened, compared, named, saved and deleted."""

from typing import Any

from dcoco_viz.components.numbers import column, written
from dcoco_viz.components.view import View
from dcoco_viz.methods import METHODS
from dcoco_viz.metrics.prefix import tau
from dcoco_viz.metrics.timing import tokens_per_second
from dcoco_viz.trace.schema import Run

NUMBERS = ("tau", "tokens_per_second", "cycles", "output_tokens", "seconds")  # as metrics.summary has them
SHORT = {"output_tokens": "tokens", "seconds": "decode"}  # what fits over a column
TITLE = 48  # characters of the prompt that name a run without a name


class Runs(View):
    """A table with one run a row. Events: `rename` {run, name}, `forget` {runs}, `restore` {runs}.

    The browser sorts, searches and selects by itself. Opening and comparing go through `window.dcoco.open`; files
    come from plain addresses, /run/ID.parquet and so on (tabs/downloads.py).
    """

    def __init__(self, value: dict[str, Any] | None = None, *, most: int = 4, note: str = "", **kwargs: Any):
        """`most`: runs that are compared, or stand in one file, at most. `note` stands below the table."""
        numbers = [{**column(name), "head": SHORT.get(name, column(name)["label"])} for name in NUMBERS]
        super().__init__(value, **{"most": most, "note": note, "numbers": numbers, **kwargs})


def listing(mine: list[Run], samples: list[Run], current: list[str], deleted: list[str]) -> dict[str, Any]:
    """A value for Runs.

    Args:
        mine: the visitor's own runs.
        samples: those that the server started with: to be seen, not to be changed.
        current: ids of the runs that the other views show.
        deleted: ids of what has just been deleted and can be taken back.
    """
    titles = {run.id: title(run) for run in (*mine, *samples)}
    rows = [_row(run, sample, titles) for runs, sample in ((mine, False), (samples, True)) for run in runs]
    return {"rows": rows, "current": current, "deleted": deleted}


def title(run: Run) -> str:
    """Its name, or the first words of its prompt."""
    words = run.name or " ".join(run.request.prompt[: 8 * TITLE].split())
    if run.name or len(words) <= TITLE:
        return words or "Empty prompt"
    return (words[:TITLE].rsplit(" ", 1)[0] if " " in words[:TITLE] else words[:TITLE]) + " …"


def _row(run: Run, sample: bool, titles: dict[str, str]) -> dict[str, Any]:
    request, known = run.request, run.request.method in METHODS
    parent = request.parent
    numbers = {
        "tau": tau(run),
        "tokens_per_second": tokens_per_second(run),
        "cycles": len(run.cycles),
        "output_tokens": len(run.token_ids),
        "seconds": run.seconds,
    }
    return {
        "id": run.id,
        "name": run.name,
        "title": titles[run.id],
        "prompt": request.prompt,
        "system": request.system,
        "turns": len(request.history),
        "method": request.method if known else "none",
        "label": METHODS[request.method].label if known else request.method,
        "walk": "" if request.method == "none" else request.walk,
        "slots": None if request.method == "none" else request.slots,
        "temperature": request.temperature,
        "numbers": numbers,
        "written": {name: written(name, value) for name, value in numbers.items()},
        "created": run.created,
        "finish": run.finish_reason,
        "parent": parent and {**parent.model_dump(), "title": titles.get(parent.run)},
        "dense": request.record == "dense",
        "sample": sample,
    }
