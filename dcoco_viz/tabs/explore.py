"""Explore: type a prompt, watch it being decoded, look at any cycle."""

from typing import Any, NamedTuple

import gradio as gr

from dcoco_viz.components.coverage import Coverage
from dcoco_viz.components.feed import Feed, Sender
from dcoco_viz.components.grid import Grid
from dcoco_viz.components.readout import Readout
from dcoco_viz.components.scrubber import Scrubber
from dcoco_viz.components.start import Start
from dcoco_viz.components.timing import Timing
from dcoco_viz.components.transcript import Transcript
from dcoco_viz.components.transitions import Transitions
from dcoco_viz.components.warnings import Warnings
from dcoco_viz.methods import METHODS
from dcoco_viz.tabs.ask import GRAMMAR, WALKS
from dcoco_viz.trace.schema import Run
from dcoco_viz.trace.store import Store

NOBODY = "nothing"


class Explore(NamedTuple):
    """The parts of the tab that events read or write."""

    method: gr.Dropdown
    compare: gr.Dropdown
    walk: gr.Dropdown
    slots: gr.Number
    run: gr.Button
    stop: gr.Button
    upload: gr.UploadButton
    download: gr.DownloadButton
    start: Start
    feeds: tuple[Feed, Feed]


def build(store: Store, status: dict[str, str], *, live: bool) -> Explore:
    """Lay the tab out, inside its panel.

    Args:
        store: where the feeds find a run by its id.
        status: where the engine stands.
        live: whether there is an engine; without one the settings are left out.
    """
    with gr.Row(elem_id="dv-way"):
        method = gr.Dropdown(
            choices(list(METHODS)), value="dcoco", label="Method", min_width=150, visible=live
        )
        compare = gr.Dropdown(
            [("Nothing", NOBODY), *choices(list(METHODS))],
            value=NOBODY,
            label="Compare with",
            min_width=150,
            visible=live,
        )
        walk = gr.Dropdown(
            list(WALKS), value=WALKS[0], label="Walk", allow_custom_value=True, min_width=150, visible=live
        )
        slots = gr.Number(15, label="Slots (1 to 15)", precision=0, min_width=110, visible=live)
        with gr.Column(min_width=300, elem_id="dv-do"):
            with gr.Row(visible=live):
                run = gr.Button("Loading …", variant="primary", interactive=False, min_width=110, elem_id="dv-run")
                stop = gr.Button("Stop", interactive=False, min_width=80, elem_id="dv-stop")
            with gr.Row(elem_id="dv-files"):
                upload = gr.UploadButton("Open a trace", file_types=[".parquet"], size="sm", min_width=110)
                download = gr.DownloadButton("Save this trace", size="sm", min_width=110, interactive=False)
        gr.HTML(GRAMMAR, elem_id="dv-grammar", apply_default_css=False, visible=live)
    start = Start(status)
    with gr.Row(elem_id="dv-lanes"):
        feeds = (_lane(store, "a"), _lane(store, "b"))
    return Explore(method, compare, walk, slots, run, stop, upload, download, start, feeds)


def _lane(store: Store, lane: str) -> Feed:
    with gr.Column(elem_classes=["dv-lane"], elem_id=f"dv-lane-{lane}"):
        feed = Feed(store, lane=lane)
        Readout(lane=lane)
        Warnings(lane=lane)
        Transcript(lane=lane, hint="")
        Scrubber(lane=lane)
        Grid(lane=lane)
        with gr.Row(elem_classes=["dv-under"]):
            with gr.Column(scale=7, min_width=300):
                Transitions(lane=lane)
            with gr.Column(scale=5, min_width=300):
                Timing(lane=lane)
                Coverage(lane=lane)
    return feed


def choices(methods: list[str]) -> list[tuple[str, str]]:
    """(label, name) of these methods, for a Dropdown."""
    return [(METHODS[name].label, name) for name in methods]


def values(runs: list[Run]) -> list[dict[str, Any] | None]:
    """Values that put the first two finished runs into the two lanes."""
    found = [Sender(run).value("done") for run in runs[:2]]
    return found + [None] * (2 - len(found))
