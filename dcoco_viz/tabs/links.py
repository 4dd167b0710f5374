"""From an address, or a click in another view, to the picture that it means."""

from typing import Any

import gradio as gr

from dcoco_viz.components.banner import say
from dcoco_viz.components.nav import place
from dcoco_viz.tabs.house import MOST, House, Tab
from dcoco_viz.tabs.visitor import visitor

GONE = "This run is no longer on this server: it keeps the newest ones only. Open its file, if it was saved."


def wire(demo: gr.Blocks, house: House, tabs: dict[str, Tab], first: list[str]) -> None:
    """Connect the navigation.

    Args:
        first: ids of the runs that a visitor sees who asks for none.
    """

    def go(view: str, asked: list[str], current: list[str], cycle: int | None, method: str | None, page: gr.Request):
        found = house.store.some(asked[:MOST])
        runs = found or house.store.some(current)
        ids, owner = [run.id for run in runs], visitor(page)
        wanted = next((run for run in runs if run.request.method == method), runs[0] if runs else None)
        notice = say("error", GONE) if len(found) < len(asked[:MOST]) else gr.skip()
        if found and cycle and wanted.finish_reason is not None and cycle > (last := len(wanted.cycles)):
            notice = say("info", f"This run has {last} cycles: there is no cycle {cycle}, the last one is shown.")
            cycle = last
        live = view == "explore" and not asked and house.jobs.busy(page.session_hash)  # its lanes are being written
        updates: dict[Any, Any] = {} if live else tabs[view].show(runs, owner)
        if found and view != "explore":  # one click back shows the same runs
            updates |= tabs["explore"].show(runs, owner)
        return updates | {
            house.current: gr.skip() if live else ids,
            house.nav: place(view, wanted and wanted.id, cycle if found else None, ids),
            house.notice: notice,
        }

    def load(page: gr.Request):
        query = page.query_params
        asked = [run for run in query.get("run", "").split(",") if run]
        cycle = query.get("cycle", "")
        return go(
            query["view"] if query.get("view") in tabs else "explore",
            asked or first,
            [],
            int(cycle) if cycle.isdecimal() and len(cycle) < 10 else None,
            query.get("method"),
            page,
        )

    def visit(current: list[str], event: gr.EventData, page: gr.Request):
        data = event._data
        view = data["view"] if data["view"] in tabs else "explore"
        runs = [str(run) for run in data.get("runs") or []]
        return go(view, runs, current, data.get("cycle"), data.get("method"), page)

    parts = [part for tab in tabs.values() for part in tab.outputs]
    outputs = [*dict.fromkeys(parts), house.current, house.nav, house.notice]
    demo.load(load, None, outputs, show_progress="hidden", api_visibility="private")
    house.nav.visit(visit, house.current, outputs, show_progress="hidden", api_visibility="private")
