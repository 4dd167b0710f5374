"""The run's cycles on one axis: accepted lengths, a slider, play, and the way back to the newest."""

from typing import Any

from dcoco_viz.components.view import View


class Scrubber(View):
    """Moves the lane through its cycles, in the browser alone."""

    def __init__(self, *, lane: str, **kwargs: Any):
        super().__init__(lane=lane, **kwargs)
