"""The K x K transition scores of one slot pair: what the corrector said of every step from here to there."""

from typing import Any

from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS


class Transitions(View):
    """Heatmap of the lane's cycle and slot pair: S, its base logit, or the correction between them."""

    def __init__(self, *, lane: str, **kwargs: Any):
        super().__init__(lane=lane, score=DEFINITIONS["score"]._asdict(), **kwargs)
