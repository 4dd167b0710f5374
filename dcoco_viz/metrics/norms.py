"""What acceptance to expect of a checkpoint, by the held-out text that it was measured on, and what is far from it."""

from typing import Any, Literal, NamedTuple

from dcoco_viz.metrics.prefix import tau
from dcoco_viz.trace.schema import Run

CYCLES = 20  # fewer tell nothing
ENDS = ("+cut", "+auto")  # of a walk's name: blocks may end early
LOW, HIGH = 0.35, 2.5  # of what the norm gains over 1, the token that every cycle yields without any draft


class Norm(NamedTuple):
    """A held-out tau from a checkpoint's card (train/card.py), pooled over its cycles, at temperature 0."""

    tau: float
    low: float  # 95% bootstrap interval over prompts
    high: float
    source: str  # the kind of prompts; empty: all of them
    prompts: int


def norm(card: dict[str, Any], source: str = "", *, head: bool = True) -> Norm:
    """The norm for prompts of one source, or of all where the card does not know that source.

    Args:
        card: a checkpoint's card.json.
        head: whether the corrector runs, where the checkpoint has one.

    Raises:
        KeyError: the card holds no held-out tau.
    """
    corrector_off = not head and "held_out_tau_without_head" in card
    measured = card["held_out_tau_without_head" if corrector_off else "held_out_tau"]
    if found := measured["by_source"].get(source):
        return Norm(found["tau"], *found["interval"], source, found["prompts"])
    return Norm(measured["pooled"]["tau"], *measured["pooled"]["interval"], "", card["held_out"]["prompts"])


def far(run: Run, norm: Norm) -> Literal["low", "high"] | None:
    """Whether the run's tau is far below the norm, or far above it.

    Low: tau - 1 < LOW (norm - 1). High: tau - 1 > HIGH (norm - 1). A run of fewer than CYCLES cycles, one without
    drafts, and one recorded dense, in which no draft is submitted, are neither.
    """
    found = tau(run)
    if found is None or len(run.cycles) < CYCLES or run.request.record == "dense":
        return None
    gain, expected = found - 1, norm.tau - 1
    if gain < LOW * expected and (run.request.slots < norm.tau or any(end in run.request.walk for end in ENDS)):
        return None  # so few slots could not have reached the norm
    return "low" if gain < LOW * expected else "high" if gain > HIGH * expected else None
