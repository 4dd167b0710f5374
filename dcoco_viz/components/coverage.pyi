"""How often the pool held the truth, slot by slot, in the run so far."""

from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS

from gradio.events import Dependency

class Coverage(View):
    """coverage@1 and coverage@16 of the lane's run, as bars with their numbers."""

    def __init__(self, *, lane: str):
        super().__init__(lane=lane, definition=DEFINITIONS["coverage"]._asdict())
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component
