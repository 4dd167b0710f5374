"""The run's cycles on one axis: accepted lengths, a slider, play, and the way back to the newest."""

from dcoco_viz.components.view import View

from gradio.events import Dependency

class Scrubber(View):
    """Moves the lane through its cycles, in the browser alone."""

    def __init__(self, *, lane: str):
        super().__init__(lane=lane)
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component
