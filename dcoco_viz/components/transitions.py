"""The scores of one slot pair: what the head said of every step from here to there.

K x K of a grid; one row of a serial head, and of the step from the anchor where a head scores that.
"""

from typing import Any

from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS

TERMS = ("score", "base", "delta")


class Transitions(View):
    """Heatmap of the lane's cycle and slot pair: S, its base logit, or the correction between them."""

    def __init__(self, *, lane: str, **kwargs: Any):
        super().__init__(lane=lane, terms={name: DEFINITIONS[name]._asdict() for name in TERMS}, **kwargs)
