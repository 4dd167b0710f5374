"""Acceptance by slot, as the verifier decided it."""

from dcoco_viz.figures.look import Look
from dcoco_viz.figures.style import Figure, by_slot, curve, figure
from dcoco_viz.metrics.acceptance import Acceptance


def conditional(series: list[tuple[str, Look, Acceptance]]) -> Figure:
    """P(slot accepted | all before it accepted), one curve a series."""
    return _figure([(name, look, found.conditional, found.reached) for name, look, found in series])


def unconditional(series: list[tuple[str, Look, Acceptance]]) -> Figure:
    """P(slot accepted), one curve a series."""
    return _figure([(name, look, found.unconditional, found.submitted) for name, look, found in series])


def _figure(curves: list[tuple]) -> Figure:
    slots = max((len(values) for *_, values, _ in curves), default=0)
    traces = [
        curve(name, values, counts, colour=look.colour, marker=look.marker, dash=look.dash, of="cycles")
        for name, look, values, counts in curves
    ]
    return figure(traces, by_slot(slots, "share accepted"))
