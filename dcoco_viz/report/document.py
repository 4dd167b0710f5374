"""Puts a report together: styles, views, data.

Nothing in it asks the network, and its content policy forbids that. Scripts run only if they are these ones, byte by
byte (their hashes are in the policy); token text is in JSON, in which no tag can begin, and comes onto the page
through `textContent` alone.
"""

import base64
import hashlib
import importlib.metadata
import json
import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from dcoco_viz.components import head
from dcoco_viz.components.coverage import Coverage
from dcoco_viz.components.feed import Feed, Sender
from dcoco_viz.components.grid import Grid
from dcoco_viz.components.readout import Readout
from dcoco_viz.components.scrubber import Scrubber
from dcoco_viz.components.timing import Timing
from dcoco_viz.components.transcript import Transcript
from dcoco_viz.components.transitions import Transitions
from dcoco_viz.components.view import View
from dcoco_viz.components.warnings import Warnings
from dcoco_viz.components.wire import Encoder
from dcoco_viz.report import content
from dcoco_viz.trace.schema import Run
from dcoco_viz.trace.store import Store

HERE = Path(__file__).parent
LANES = "abcd"


def save(path: str | os.PathLike, runs: list[Run], limit: int = content.SCORES) -> None:
    """Write a report of one to four runs.

    Args:
        limit: bytes of transition scores in the file at most; the report says which cycles go without.
    """
    with open(path, "w", encoding="utf-8") as file:
        _write(file, runs, limit)


def _write(file: TextIO, runs: list[Run], limit: int) -> None:
    lanes = [_views(lane) for lane in LANES[: len(runs)]]
    kinds = {_kind(view): view for view in lanes[0]}
    style, script = _shared()
    # the page scopes a view's style by an id, which outweighs classes: so does the last part of this selector
    style += "".join(f".dv-{kind}:is(*, #report) {{\n{view.css_template}\n}}\n" for kind, view in kinds.items())
    scripts = [
        script,
        *(_function(kind, view.js_on_load) for kind, view in kinds.items()),
        (HERE / "report.js").read_text(encoding="utf-8"),
    ]
    scripts = [f"\n{_inert(text)}\n" for text in scripts]
    stops = content.room(runs, limit)

    file.write(_top(style + (HERE / "report.css").read_text(encoding="utf-8"), scripts))
    _data(file, "matter", [_dumps(_matter(runs, lanes, stops))])
    for lane, run, stop in zip(LANES, runs, stops, strict=False):
        _data(file, f"records-{lane}", _listed(_records(run, stop)))
        _data(file, f"scores-{lane}", _listed(content.scores(run, stop)))
    _data(file, "bytes", [str(file.tell())])
    file.writelines(f"<script>{text}</script>\n" for text in scripts)
    file.write("</body>\n</html>\n")


def _views(lane: str) -> list[View]:
    """The views of a run, as Explore has them, held by no page."""
    kinds = (Readout, Warnings, Transcript, Scrubber, Grid, Transitions, Timing, Coverage)
    return [Feed(Store(), lane=lane, render=False), *(kind(lane=lane, render=False) for kind in kinds)]


def _kind(view: View) -> str:
    return type(view).__name__.lower()


def _shared() -> tuple[str, str]:
    """Style and script that the page has in its head."""
    parts = dict(re.findall(r"<(style|script)>\n(.*?)\n</\1>", head(), re.DOTALL))
    return parts["style"] + "\n", parts["script"]


def _function(kind: str, source: str) -> str:
    """A view's script, with the names that Gradio gives it."""
    arguments = "element, trigger, props, server, upload, watch"
    return f"(window.views ??= {{}})[{json.dumps(kind)}] = function ({arguments}) {{\n{source}\n}};"


def _inert(script: str) -> str:
    """The same script, which the HTML around it cannot mistake for its end."""
    return re.sub(r"<(?=/script|!--)", r"<\\", script, flags=re.IGNORECASE)


def _top(style: str, scripts: list[str]) -> str:
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    policy = f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>dcoco-viz report</title>
<style>
{style}</style>
</head>
<body>
<main id="report"><noscript>This report needs JavaScript, which is switched off here.</noscript></main>
"""


def _matter(runs: list[Run], lanes: list[list[View]], stops: list[int]) -> dict[str, Any]:
    return {
        "app": importlib.metadata.version("dcoco-viz"),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "heads": content.heads(runs),
        "settings": content.settings(runs),
        "numbers": content.numbers(runs),
        "histograms": content.histograms(runs),
        "lanes": [
            {
                "lane": lane,
                "count": len(run.cycles),
                "scored": stop,
                "views": [{"kind": _kind(view), "props": view.props} for view in views],
                "value": Sender(run).value("done"),
            }
            for lane, run, views, stop in zip(LANES, runs, lanes, stops, strict=False)
        ],
    }


def _records(run: Run, stop: int) -> Iterable[dict[str, Any]]:
    for record in Encoder(run).take():
        if record["index"] >= stop and "walked" in record:
            record["walked"] = None  # its scores are not here
        yield record


def _data(file: TextIO, name: str, parts: Iterable[str]) -> None:
    file.write(f'<script type="application/json" id="{name}">')
    file.writelines(parts)
    file.write("</script>\n")


def _listed(items: Iterable[Any]) -> Iterable[str]:
    yield "["
    for number, item in enumerate(items):
        yield ("," if number else "") + _dumps(item)
    yield "]"


def _dumps(value: Any) -> str:
    """JSON in which no tag begins."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
