"""Custom views of the page: `gr.HTML` subclasses, one .py, .js and .css each.

What they share in the browser: page.css, tokens.js (token pieces as visible text), parts.js (small parts), lane.js
(the run in one column), picture.js (what grid and heatmap show of a cycle, as values), detail.js (one candidate in
full), sheet.js with motion.js (grid and heatmap on a canvas while the cycles fly past), compared.js (runs beside
each other) and runrow.js (one run in the list of runs). Views hold no run themselves: they listen to their lane, so
what one selects, all show. Token text enters the page through `textContent` alone, or as text on a canvas.
"""

import json
from pathlib import Path

from dcoco_viz import palette

HERE = Path(__file__).parent
# in this order
SHARED = "tokens.js parts.js lane.js picture.js detail.js sheet.js motion.js compared.js runrow.js".split()

GLYPHS = {"circle-open": "○", "square": "■", "diamond": "◆", "triangle-up": "▲", "triangle-down": "▼", "hexagon": "⬢",
          "star": "★", "cross": "✚", "x": "✖"}  # fmt: skip


def source(name: str) -> str:
    """The text of a file of this folder."""
    return (HERE / name).read_text(encoding="utf-8")


def head() -> str:
    """What goes into the page's <head> before any view: colours, styles, shared script."""
    scales = json.dumps({"steps": palette.STEPS, "scales": palette.scales()})
    glyphs = json.dumps({name: GLYPHS[method.marker] for name, method in palette.METHODS.items()})
    script = [
        f"window.dcoco = {{palette: {scales}, glyphs: {glyphs}}};",
        *map(source, SHARED),
    ]
    style = [palette.css(), source("page.css")]
    return "\n".join(["<style>", *style, "</style>", "<script>", *script, "</script>"])
