"""What happens in Runs: list, name, delete, take in."""

import asyncio
from pathlib import Path
from typing import Any

import gradio as gr
from pydantic import TypeAdapter

from dcoco_viz.components.banner import say
from dcoco_viz.components.runs import Runs, listing
from dcoco_viz.tabs.house import MOST, House
from dcoco_viz.tabs.run import adopt
from dcoco_viz.tabs.visitor import visitor
from dcoco_viz.trace import files
from dcoco_viz.trace.schema import Run, Text
from dcoco_viz.trace.store import CAPACITY, MEMORY

KEPT = (
    f"Runs live in this server's memory, at most {CAPACITY} runs and {MEMORY / 1e9:g} GB of all visitors together: the "
    "oldest go first, and all when it stops. To keep a run, download it; a Parquet file can be added here again."
)
NOT_YOURS = "This run cannot be changed: it is not yours, or it is no longer on this server."
LONGEST = 200  # characters of a name, as in a file


class RunsTab:
    """The tab and its events."""

    def __init__(self, house: House):
        self._house = house
        with gr.Row(elem_id="dv-runs-files"):
            self._upload = gr.UploadButton(
                "Add a trace file", file_types=[".parquet"], size="sm", scale=0, min_width=150
            )
        self._view = Runs(most=MOST, note=KEPT)
        self.outputs: list[gr.components.Component] = [self._view]

    def wire(self, demo: gr.Blocks) -> None:
        inputs, outputs = self._house.current, [self._view, self._house.notice]
        for event, handler in (
            (self._view.rename, self._rename),
            (self._view.forget, self._forget),
            (self._view.restore, self._restore),
        ):
            event(handler, inputs, outputs, show_progress="hidden", api_visibility="private")
        self._upload.upload(self._open, [self._upload, inputs], outputs, api_visibility="private")

    def show(self, runs: list[Run], owner: str) -> dict[Any, Any]:
        return {self._view: self._listing(owner, [run.id for run in runs])}

    def _listing(self, owner: str, current: list[str], deleted: list[str] | None = None) -> dict[str, Any]:
        store = self._house.store
        return listing(store.of(owner), store.of(""), current, deleted or [])

    def _rename(self, current: list[str], event: gr.EventData, page: gr.Request):
        data, owner = event._data, visitor(page)
        try:
            name = " ".join(TypeAdapter(Text).validate_python(data["name"]).split())[:LONGEST]
            done = self._house.store.rename(str(data["run"]), owner, name)
        except (KeyError, TypeError, ValueError):  # no page of ours sends that
            done = False
        return self._answer(owner, current, done)

    def _forget(self, current: list[str], event: gr.EventData, page: gr.Request):
        owner = visitor(page)
        gone = [run for run in _named(event) if self._house.store.remove(run, owner)]
        return self._answer(owner, current, bool(gone), gone)

    def _restore(self, current: list[str], event: gr.EventData, page: gr.Request):
        owner = visitor(page)
        done = [self._house.store.restore(run, owner) for run in _named(event)]
        return self._answer(owner, current, any(done))

    def _answer(self, owner: str, current: list[str], done: bool, deleted: list[str] | None = None):
        notice = None if done else say("error", NOT_YOURS)
        return {self._view: self._listing(owner, current, deleted), self._house.notice: notice}

    async def _open(self, path: str, current: list[str], page: gr.Request):
        owner, notice = visitor(page), self._house.notice
        try:
            runs = await asyncio.to_thread(files.load, path)
        except files.TraceError as error:
            return {notice: say("error", str(error))}
        adopt(runs, self._house.store, owner)
        count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
        return {
            self._view: self._listing(owner, current),
            notice: say("info", f"{Path(path).name}: {count} added to your list."),
        }


def _named(event: gr.EventData) -> list[str]:
    """The runs that an event names; what a browser sends may be anything."""
    runs = event._data.get("runs") if isinstance(event._data, dict) else None
    return [run for run in runs if isinstance(run, str)][:CAPACITY] if isinstance(runs, list) else []
