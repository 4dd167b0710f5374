"""The lattice of one cycle: K candidates at each of B slots, the paths through them, and how far it went."""

from typing import Any

from dcoco_viz.components.view import View
from dcoco_viz.metrics.names import DEFINITIONS

TERMS = ("probability", "verifier_logprob", "score", "base", "delta")


class Grid(View):
    """The selected cycle as a table: columns are slots, rows are ranks."""

    def __init__(self, *, lane: str, **kwargs: Any):
        super().__init__(lane=lane, terms={name: DEFINITIONS[name]._asdict() for name in TERMS}, **kwargs)
