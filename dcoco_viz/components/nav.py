"""The views of the page, and the address that reopens what one of them shows."""

import itertools
from typing import Any

from dcoco_viz.components.view import View

_number = itertools.count()


class Nav(View):
    """A tab list. Its event `visit` asks the server to show runs in a view: {view, runs?, cycle?, method?}.

    The browser keeps `?run=&cycle=&method=&view=` up to date by itself. From any view,
    `window.dcoco.open({view, runs, cycle, method})` leads to a picture in another one; cycles count from 1 there, as on
    the screen.
    """

    def __init__(self, views: dict[str, str], **kwargs: Any):
        """`views`: label by name, in order; a panel with the id dv-panel-NAME belongs to each."""
        super().__init__(views=views, **kwargs)


def place(view: str, run: str | None = None, cycle: int | None = None, runs: list[str] | None = None) -> dict[str, Any]:
    """A value for a Nav: go to this view, "" is the one on screen, and there to cycle `cycle` (from 1) of run `run`.

    Args:
        runs: the ids that the address names from now on.
    """
    return {"view": view, "run": run, "cycle": cycle, "runs": runs or [], "number": next(_number)}
