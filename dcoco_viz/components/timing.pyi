"""Where the time of the selected cycle went."""

from dcoco_viz.components.view import View

from gradio.events import Dependency

class Timing(View):
    """Draft, head and verify on an axis that stays the same for the whole run."""

    def __init__(self, *, lane: str):
        super().__init__(lane=lane)
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component
