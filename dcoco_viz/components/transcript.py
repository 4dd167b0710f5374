"""The text of a run, token by token, each marked by where it came from."""

from dcoco_viz.components.view import View


class Transcript(View):
    """Streaming text; a click on a token selects its cycle."""

    def __init__(self, *, lane: str):
        super().__init__(lane=lane)
