"""The base of every custom view."""

import inspect
from pathlib import Path
from typing import Any

import gradio as gr


class View(gr.HTML):
    """A `gr.HTML` whose script and style lie beside its Python file, under the same name.

    The container is built once, empty; the script fills it and keeps it up to date. `lane` names the lane it
    shows ("a" or "b"), and reaches the script as `props.lane`.
    """

    def __init__(self, value: Any = None, *, lane: str = "a", **kwargs: Any):
        own = Path(inspect.getfile(type(self)))
        style = own.with_suffix(".css")
        super().__init__(
            value,
            html_template="",
            css_template=style.read_text(encoding="utf-8") if style.exists() else "",
            js_on_load=own.with_suffix(".js").read_text(encoding="utf-8"),
            apply_default_css=False,
            elem_classes=[f"dv-{own.stem}"],
            lane=lane,
            **kwargs,
        )
