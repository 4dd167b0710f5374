"""Custom views of the page: `gr.HTML` subclasses, one .py, .js and .css each.

What they share in the browser: page.css, tokens.js (token pieces as visible text) and lane.js (the run in one
column). Views hold no run themselves: they listen to their lane, so what one selects, all show. Token text
enters the page through `textContent` alone.
"""

import json
from pathlib import Path

from dcoco_viz import palette

HERE = Path(__file__).parent


def source(name: str) -> str:
    """The text of a file of this folder."""
    return (HERE / name).read_text(encoding="utf-8")


def head() -> str:
    """What goes into the page's <head> before any view: colours, styles, shared script."""
    scales = json.dumps({"steps": palette.STEPS, "scales": palette.scales()})
    markers = {"circle-open": "○", "square": "■", "diamond": "◆", "triangle-up": "▲"}
    glyphs = json.dumps({name: markers[method.marker] for name, method in palette.METHODS.items()})
    script = [
        f"window.dcoco = {{palette: {scales}, glyphs: {glyphs}}};",
        source("tokens.js"),
        source("lane.js"),
    ]
    style = [palette.css(), source("page.css")]
    return "\n".join(["<style>", *style, "</style>", "<script>", *script, "</script>"])
