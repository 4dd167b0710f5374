"""The page: header, tabs, and the web application around them."""

from collections.abc import Callable

import gradio as gr
from fastapi import FastAPI

from dcoco_viz.components import head
from dcoco_viz.components.banner import Banner
from dcoco_viz.tabs import explore
from dcoco_viz.tabs.engine import Engine
from dcoco_viz.tabs.run import WAITING, Explorer, adopt, show
from dcoco_viz.trace.schema import Run
from dcoco_viz.trace.store import Store

TITLE = """<h1>dcoco-viz</h1>
<p>Speculative decoding, cycle by cycle: what the drafter saw, what the corrector changed, how far the verifier went</p>
"""  # noqa: E501
FONT = ("system-ui", "sans-serif")  # names alone: the theme's own fonts would come from a font server


def create(engine: Engine, replayed: list[Run], lifespan: Callable) -> FastAPI:
    """The web application.

    Args:
        engine: loaded, loading, or none at all.
        replayed: finished runs that every visitor sees first.
        lifespan: FastAPI's, starts and stops the engine.
    """
    store = Store()
    adopt(replayed, store)
    app = FastAPI(lifespan=lifespan, openapi_url=None)
    return gr.mount_gradio_app(
        app,
        _blocks(engine, store, replayed),
        path="/",
        theme=_theme(),
        head=head(),
        footer_links=[],
        run_history=False,
        max_file_size="200mb",
    )


def _blocks(engine: Engine, store: Store, replayed: list[Run]) -> gr.Blocks:
    with gr.Blocks(
        title="dcoco-viz", analytics_enabled=False, fill_width=True, delete_cache=(3600, 86400)
    ) as demo:
        with gr.Row(elem_id="dv-top"):
            gr.HTML(TITLE, elem_id="dv-title", apply_default_css=False)
            status = Banner(engine.status(), role="status")
        tab = explore.build(store, live=engine.preset is not None)
        Explorer(tab, engine, store).wire(demo, status)
        if engine.preset is None:
            demo.load(lambda: show(replayed), None, list(tab.feeds), api_visibility="private")
        else:
            _watch(demo, engine, tab, status)
    return demo.queue(max_size=WAITING)


def _watch(demo: gr.Blocks, engine: Engine, tab: explore.Explore, status: Banner) -> None:
    """Keep an open page told how far the engine has come, until it stands."""
    timer = gr.Timer(0.5)

    def look():
        ready = engine.session is not None
        methods = engine.methods or list(explore.METHODS)
        return {
            status: engine.status(),
            tab.run: gr.Button("Run", interactive=ready) if engine.settled else gr.skip(),
            tab.method: gr.Dropdown(explore.choices(methods)) if ready else gr.skip(),
            tab.compare: gr.Dropdown([("Nothing", explore.NOBODY), *explore.choices(methods)])
            if ready
            else gr.skip(),
            timer: gr.Timer(active=not engine.settled),
        }

    outputs = [status, tab.run, tab.method, tab.compare, timer]
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
