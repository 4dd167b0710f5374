"""Coverage: what the pool of candidates holds, and what became of it, slot by slot."""

import itertools
from typing import Any

import gradio as gr

from dcoco_viz.components.chart import Chart
from dcoco_viz.metrics.paper import paper
from dcoco_viz.tabs.evidence import charts
from dcoco_viz.tabs.groups import Series, by_method, by_source, each, label
from dcoco_viz.tabs.house import House
from dcoco_viz.tabs.visitor import visitor
from dcoco_viz.trace.schema import Run

NEWEST = 200  # runs that are pooled
SCOPES = [("These runs", "these"), ("All my runs, by method", "method"), ("All my runs, by source", "source")]
PICTURES = ("coverage", "survival", "budget", "acceptance", "saveable")
EMPTY = {
    "these": "There is no run to look at yet. Run a prompt in Explore, or open a recorded trace there; every block "
    "that was drafted is counted here, slot by slot.",
    "method": "You have no recorded runs with drafts on this server yet. Run a few prompts in Explore; they are "
    "pooled here by method.",
    "source": "You have no recorded runs with drafts on this server yet. Run a few of the example prompts in Explore; "
    "they are pooled here by the group of their prompt.",
}
_turn = itertools.count(1)


class CoverageTab:
    """The tab and its events."""

    def __init__(self, house: House):
        self._house = house
        self._asked = gr.State(0)  # changes whenever the view is opened: it keeps its settings, and is drawn anew
        with gr.Row(elem_id="dv-coverage-settings"):
            self._scope = gr.Radio(SCOPES, value="these", label="Count", scale=3, min_width=320)
            self._method = gr.Dropdown([], label="of method", visible=False, scale=1, min_width=220)
            self._paper = gr.Checkbox(True, label=f"Show the paper's {paper().model}", scale=1, min_width=220)
        self._basis = gr.Markdown(elem_id="dv-coverage-basis")
        with gr.Column(visible=False, elem_id="dv-coverage-empty") as self._empty:
            self._why = gr.Markdown()
            self._back = gr.Button("Go to Explore", size="sm", scale=0, min_width=150)
        self._charts = {name: Chart(elem_id=f"dv-chart-{name}") for name in PICTURES}
        self.outputs: list[gr.components.Component] = [self._asked]

    def wire(self, demo: gr.Blocks) -> None:
        outputs = [self._method, self._basis, self._empty, self._why, *self._charts.values()]
        settings = [self._scope, self._method, self._paper]
        gr.on(
            [self._asked.change, self._scope.input, self._method.input, self._paper.input],
            self._draw,
            [self._house.current, *settings],
            outputs,
            trigger_mode="always_last",  # what was chosen last is drawn
            show_progress="hidden",
            api_visibility="private",
        )
        self._back.click(None, js="() => window.dcoco.open({view: 'explore'})", api_visibility="private")

    def show(self, runs: list[Run], owner: str) -> dict[Any, Any]:
        return {self._asked: next(_turn)}

    def _draw(self, current: list[str], scope: str, method: str | None, marks: bool, page: gr.Request):
        mine, note = [], ""
        if scope != "these":
            mine, note = pooled(self._house.store.of(visitor(page)))
        methods = [one.method for one in by_method(mine) if one.method != "none"]
        method = method if method in methods else next(iter(methods), None)
        series = {
            "these": lambda: each(self._house.store.some(current)),
            "method": lambda: by_method(mine),
            "source": lambda: by_source(mine, method),
        }[scope]()
        values = charts(series, marks=marks) if series else dict.fromkeys(PICTURES)
        return {
            self._method: gr.Dropdown(
                [(label(name), name) for name in methods], value=method, visible=scope == "source" and bool(methods)
            ),
            self._basis: f"{_count(series)} {note}" if series else "",
            self._empty: gr.Column(visible=not series),
            self._why: EMPTY[scope],
            **{view: values[name] for name, view in self._charts.items()},
        }


def pooled(runs: list[Run]) -> tuple[list[Run], str]:
    """Those of a visitor's runs, the newest first, that are pooled, and a sentence about those that are not."""
    dense = [run for run in runs if run.request.record == "dense"]
    kept = [run for run in runs if run.request.record != "dense"]
    said = []
    if len(kept) > NEWEST:
        said.append(f"The newest {NEWEST} of {len(kept)} are counted.")
    if dense:
        said.append(f"Dense recordings left out, since they draft at every position: {len(dense)}.")
    return kept[:NEWEST], " ".join(said)


def _count(series: list[Series]) -> str:
    runs = [run for one in series for run in one.runs]
    cycles = sum(len(run.cycles) for run in runs)
    return f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}, {cycles:,} {'cycle' if cycles == 1 else 'cycles'}."
