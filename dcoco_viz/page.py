"""The page: header, tabs, and the web application around them."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path

import gradio as gr
from fastapi import FastAPI

from dcoco_viz.components import head, plotlyjs
from dcoco_viz.components.banner import Banner
from dcoco_viz.components.help import Help
from dcoco_viz.components.nav import Nav
from dcoco_viz.methods import METHODS
from dcoco_viz.tabs import branch, deck, downloads, explore, links, thread
from dcoco_viz.tabs.api import Api
from dcoco_viz.tabs.compare import CompareTab
from dcoco_viz.tabs.coverage import CoverageTab
from dcoco_viz.tabs.engine import Engine
from dcoco_viz.tabs.house import MOST, House
from dcoco_viz.tabs.job import Jobs
from dcoco_viz.tabs.lab import LabTab
from dcoco_viz.tabs.run import ExploreTab, adopt
from dcoco_viz.tabs.runs import RunsTab
from dcoco_viz.tabs.visitor import recognise
from dcoco_viz.trace import files
from dcoco_viz.trace.schema import Run
from dcoco_viz.trace.store import Store

TITLE = """<h1>dcoco-viz</h1>
<p>Speculative decoding, cycle by cycle: what the drafter saw, what the head changed, how far the verifier went</p>
"""  # noqa: E501
log = logging.getLogger(__name__)

PULSE_SECONDS = 3  # between two looks of an idle page at whether the engine lives
VIEWS = {  # name -> label, tab
    "explore": ("Explore", ExploreTab),
    "compare": ("Compare", CompareTab),
    "coverage": ("Coverage", CoverageTab),
    "lab": ("Path lab", LabTab),
    "runs": ("Runs", RunsTab),
}
FONT = ("system-ui", "sans-serif")  # names alone: the theme's own fonts would come from a font server


def create(engine: Engine, replayed: list[Run], samples: Sequence[Path] = ()) -> FastAPI:
    """The web application; it starts and stops the engine.

    Args:
        engine: loaded, loading, or none at all.
        replayed: finished runs that every visitor sees first.
        samples: trace files whose runs every visitor finds among the runs; read once the page is up.
    """
    store = Store()
    adopt(replayed, store)

    @contextlib.asynccontextmanager
    async def lifespan(_):
        engine.begin()
        reading = asyncio.create_task(_read(samples, store))
        async with tools.session_manager.run():
            yield
        reading.cancel()
        await engine.close()

    app = FastAPI(lifespan=lifespan, openapi_url=None)
    recognise(app)
    downloads.serve(app, store)
    plotlyjs.serve(app)
    demo, api = _blocks(engine, store, replayed)
    tools = api.mount(app)
    return gr.mount_gradio_app(
        app,
        demo,
        path="/",
        theme=_theme(),
        head=head(),
        footer_links=[],
        run_history=False,
        max_file_size="200mb",
    )


async def _read(samples: Sequence[Path], store: Store) -> None:
    for path in samples:
        try:
            adopt(await asyncio.to_thread(files.load, path), store)
        except files.TraceError as error:
            log.warning("%s", error)


def _blocks(engine: Engine, store: Store, replayed: list[Run]) -> tuple[gr.Blocks, Api]:
    with gr.Blocks(title="dcoco-viz", analytics_enabled=False, fill_width=True, delete_cache=(3600, 86400)) as demo:
        with gr.Row(elem_id="dv-top"):
            gr.HTML(TITLE, elem_id="dv-title", apply_default_css=False)
            status = Banner(engine.status(), role="status")
        nav = Nav({name: label for name, (label, _) in VIEWS.items()}, elem_id="dv-nav")
        questions = deck.build(live=engine.preset is not None)
        house = House(engine, store, Jobs(), nav, questions, Banner(role="alert"), status, gr.State([]))
        tabs = {}
        for name, (_, make) in VIEWS.items():
            with gr.Column(elem_id=f"dv-panel-{name}", elem_classes=["dv-panel"]):
                tabs[name] = make(house)
        for tab in tabs.values():
            tab.wire(demo)
        Help()
        thread.wire(house)
        branch.wire(house, tabs["explore"])
        links.wire(demo, house, tabs, [run.id for run in replayed[:MOST]])
        if engine.preset is not None:
            _watch(demo, house, tabs["explore"], tabs["compare"])
        api = Api(house)
        api.wire()
    return demo.queue(max_size=64), api


def _watch(demo: gr.Blocks, house: House, tab: ExploreTab, compare: CompareTab) -> None:
    """Keep an open page told how far the engine has come, until it stands."""
    timer, engine, parts = gr.Timer(0.5), house.engine, tab.parts

    def look():
        ready = engine.session is not None
        methods = explore.choices(engine.methods or list(METHODS))
        return {
            house.status: engine.status(),
            parts.start: engine.status(),
            parts.run: gr.Button("Run", interactive=ready) if engine.settled else gr.skip(),
            parts.method: gr.Dropdown(methods) if ready else gr.skip(),
            parts.compare: gr.Dropdown([("Nothing", explore.NOBODY), *methods]) if ready else gr.skip(),
            **compare.ready(),
            timer: gr.Timer(active=not engine.settled),
        }

    def beat():
        """An engine that died: say so on pages that do not decode."""
        if not engine.failure:
            return {house.status: gr.skip()}
        ended = {parts.run: gr.Button(interactive=False), compare.setup.start: gr.Button(interactive=False)}
        return {house.status: engine.status(), parts.start: engine.status(), pulse: gr.Timer(active=False), **ended}

    pulse = gr.Timer(PULSE_SECONDS)
    told = [house.status, parts.start, parts.run, compare.setup.start, pulse]
    pulse.tick(beat, None, told, show_progress="hidden", queue=False, api_visibility="private")
    outputs = [house.status, parts.start, parts.run, parts.method, parts.compare, *compare.awaiting, timer]
    gr.on([demo.load, timer.tick], look, None, outputs, show_progress="hidden", api_visibility="private")


def _theme() -> gr.themes.Base:
    """Gradio's own parts in the colours of page.css."""
    mono = ("ui-monospace", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")
    return gr.themes.Base(font=FONT, font_mono=mono, radius_size="sm", spacing_size="sm", text_size="sm").set(
        body_background_fill="var(--dv-page)",
        body_background_fill_dark="var(--dv-page)",
        body_text_color="var(--dv-ink)",
        body_text_color_dark="var(--dv-ink)",
        block_background_fill="var(--dv-panel)",
        block_background_fill_dark="var(--dv-panel)",
        block_border_color="var(--dv-line)",
        block_border_color_dark="var(--dv-line)",
        block_label_text_color="var(--dv-muted)",
        block_label_text_color_dark="var(--dv-muted)",
        block_title_text_color="var(--dv-muted)",
        block_title_text_color_dark="var(--dv-muted)",
        input_background_fill="var(--dv-panel)",
        input_background_fill_dark="var(--dv-panel)",
        block_info_text_color="var(--dv-muted)",
        block_info_text_color_dark="var(--dv-muted)",
        input_placeholder_color="var(--dv-muted)",
        input_placeholder_color_dark="var(--dv-muted)",
        input_border_color="var(--dv-line-strong)",
        input_border_color_dark="var(--dv-line-strong)",
        button_primary_background_fill="var(--dv-ink)",
        button_primary_background_fill_dark="var(--dv-ink)",
        button_primary_background_fill_hover="var(--dv-ink)",
        button_primary_background_fill_hover_dark="var(--dv-ink)",
        button_primary_text_color="var(--dv-page)",
        button_primary_text_color_dark="var(--dv-page)",
        button_secondary_background_fill="var(--dv-panel)",
        button_secondary_background_fill_dark="var(--dv-panel)",
        button_secondary_background_fill_hover="var(--dv-hover)",
        button_secondary_background_fill_hover_dark="var(--dv-hover)",
        button_secondary_text_color="var(--dv-ink)",
        button_secondary_text_color_dark="var(--dv-ink)",
        button_secondary_border_color="var(--dv-line-strong)",
        button_secondary_border_color_dark="var(--dv-line-strong)",
        slider_color="var(--dv-ink)",
        slider_color_dark="var(--dv-ink)",
    )
