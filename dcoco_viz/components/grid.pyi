"""The lattice of one cycle: K candidates at each of B slots, the paths through them, and how far the verifier went."""

from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS

from gradio.events import Dependency

class Grid(View):
    """The selected cycle as a table: columns are slots, rows are ranks."""

    def __init__(self, *, lane: str):
        super().__init__(lane=lane, probability=DEFINITIONS["probability"].text)
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component
