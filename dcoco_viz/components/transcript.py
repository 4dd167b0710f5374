"""The text of a run, token by token, each marked by where it came from."""

from typing import Any

from dcoco_viz.components.view import View


class Transcript(View):
    """Streaming text; a click on a token selects its cycle. `hint` stands there while there is no run."""

    def __init__(self, *, lane: str, hint: str = "", **kwargs: Any):
        super().__init__(lane=lane, hint=hint, **kwargs)
