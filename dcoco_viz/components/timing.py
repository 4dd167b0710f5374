"""Where the time of the selected cycle went."""

from typing import Any

from dcoco_viz.components.view import View


class Timing(View):
    """Draft, head and verify on an axis that stays the same for the whole run."""

    def __init__(self, *, lane: str, **kwargs: Any):
        super().__init__(lane=lane, **kwargs)
