"""The K x K transition scores of one slot pair: what the corrector said of every step from here to there."""

from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS

from gradio.events import Dependency

class Transitions(View):
    """Heatmap of the lane's cycle and slot pair: S, its base logit, or the correction between them."""

    def __init__(self, *, lane: str):
        super().__init__(lane=lane, score=DEFINITIONS["score"]._asdict())
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component
