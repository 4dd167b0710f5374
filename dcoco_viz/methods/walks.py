"""Which walks a method can take."""

from dcoco_viz.lattice.walk import Walk
from dcoco_viz.methods import Method


def check(method: Method, walk: Walk) -> None:
    """Raise ValueError, with one sentence, where the method's head leaves this walk no choice."""
    if method.serial and walk.path != Walk("greedy"):
        raise ValueError(f"{method.label} chooses slot by slot: its walk is greedy, with +cut:P or +auto at most")
