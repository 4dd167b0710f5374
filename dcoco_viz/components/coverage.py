"""How often the pool held the truth, slot by slot, in the run so far."""

from typing import Any

from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS


class Coverage(View):
    """coverage@1 and coverage@16 of the lane's run, as bars with their numbers."""

    def __init__(self, *, lane: str, **kwargs: Any):
        super().__init__(lane=lane, definition=DEFINITIONS["coverage"]._asdict(), **kwargs)
