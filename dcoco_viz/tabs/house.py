"""What all tabs share."""

from typing import Any, NamedTuple, Protocol

import gradio as gr

from dcoco_viz.components.banner import Banner
from dcoco_viz.components.nav import Nav
from dcoco_viz.tabs.deck import Deck
from dcoco_viz.tabs.engine import Engine
from dcoco_viz.tabs.job import Jobs
from dcoco_viz.trace.schema import Run
from dcoco_viz.trace.store import Store


class House(NamedTuple):
    """The engine, the runs, and the parts of the page that stand above the tabs."""

    engine: Engine
    store: Store
    jobs: Jobs  # what every open page has under way
    nav: Nav
    deck: Deck
    notice: Banner  # sentences for the user, and errors
    status: Banner  # where the engine stands
    current: gr.State  # ids of the runs that the page is about: a list, at most MOST long


class Tab(Protocol):
    """A view of the page. Its parts are built where it is made, inside its panel."""

    outputs: list[gr.components.Component]  # what `show` may change

    def wire(self, demo: gr.Blocks) -> None:
        """Connect its events, once all tabs are built."""

    def show(self, runs: list[Run], owner: str) -> dict[Any, Any]:
        """Updates that point this tab at these runs; with none it says what to do."""


MOST = 4  # runs beside each other
