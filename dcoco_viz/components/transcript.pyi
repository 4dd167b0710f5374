"""The text of a run, token by token, each marked by where it came from."""

from dcoco_viz.components.view import View

from gradio.events import Dependency

class Transcript(View):
    """Streaming text; a click on a token selects its cycle."""

    def __init__(self, *, lane: str):
        super().__init__(lane=lane)
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component
