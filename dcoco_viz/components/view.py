"""The base of every custom view."""

import functools
import inspect
from pathlib import Path
from typing import Any

import gradio as gr


class View(gr.HTML):
    """A `gr.HTML` whose script and style lie beside its Python file, under the same name.

    The container is built once, empty; the script fills it and keeps it up to date. `lane` names the lane it
    shows ("a" or "b"), and reaches the script as `props.lane`. Every view hands `**kwargs` down, since Gradio
    makes a view anew, with arguments of its own, for each event that could change it.
    """

    def __init__(self, value: Any = None, *, lane: str = "a", **kwargs: Any):
        name = Path(inspect.getfile(type(self))).stem
        super().__init__(
            value,
            html_template="",
            css_template=_read(f"{name}.css"),
            js_on_load=_read(f"{name}.js"),
            apply_default_css=False,
            elem_classes=[f"dv-{name}"],
            lane=lane,
            **kwargs,
        )
        # gr.HTML takes a word in quotes in the script for an event, unless it is an attribute
        vars(self).update(self.props)


@functools.cache
def _read(name: str) -> str:
    path = Path(__file__).with_name(name)
    return path.read_text(encoding="utf-8") if path.exists() else ""
