"""How far a comparison under way has come."""

from typing import Any

from dcoco_viz.components.view import View


class Progress(View):
    """A sentence and a bar; empty when nothing is under way and nothing is to be said."""


def progress(text: str, done: int, total: int) -> dict[str, Any]:
    """A value: `done` of `total` requests are over."""
    return {"text": text, "done": done, "total": total}
