"""What has to be said about a run under its numbers: a repetition loop, an acceptance far from the norm."""

import functools
import json
from pathlib import Path
from typing import Any

from dcoco_viz.components.view import View
from dcoco_viz.components.wire import text
from dcoco_viz.methods import METHODS
from dcoco_viz.metrics.norms import Norm, far, norm
from dcoco_viz.metrics.prefix import tau
from dcoco_viz.metrics.repetition import Loop, loop
from dcoco_viz.presets import PresetError, load
from dcoco_viz.prompts import examples
from dcoco_viz.trace.schema import Run

UNUSUAL = {
    "low": "Text unlike what the drafter was trained on does this, and so does a drafter made for another verifier.",
    "high": "The text is unusually easy to draft, although no n-gram of it repeats.",
}


class Warnings(View):
    """The lane's `figures.warnings`, one calm line each; takes no room while there is none."""


def warnings(run: Run) -> list[dict[str, Any]]:
    """Lines for Warnings.

    Returns:
        kind (low, high or loop), text, and with a loop `tokens`, the pieces (as in wire.py) that repeat.
    """
    found, repeated = [], loop(run.token_ids)
    expected = _norm(run)
    verdict = far(run, expected) if expected else None
    if verdict:
        why = _loop(repeated) if verdict == "high" and repeated else UNUSUAL[verdict]
        found.append({"kind": verdict, "text": f"{_acceptance(run, expected, verdict)} {why}"})
    if repeated and verdict != "high":
        found.append({"kind": "loop", "text": _loop(repeated)})
    if repeated:
        found[-1]["tokens"] = [text(run, token) for token in repeated.gram]
    return found


def _acceptance(run: Run, expected: Norm, verdict: str) -> str:
    side = {"low": "below", "high": "above"}[verdict]
    kind = f"{expected.source} prompts" if expected.source else "prompts of all kinds"
    return (
        f"Acceptance is far {side} the norm: τ = {tau(run):.2f}, and on {expected.prompts} held-out {kind} this "
        f"drafter has {expected.tau:.2f} (95% interval {expected.low:.2f} to {expected.high:.2f}, T = 0)."
    )


def _loop(found: Loop) -> str:
    n = len(found.gram)
    these = "this token comes" if n == 1 else f"these {n} tokens come"
    return (
        f"The text repeats itself: from token {found.start + 1} on, {these} {found.times} times in a row "
        f"and cover {found.covered} tokens. Loops are easy to draft."
    )


def _norm(run: Run) -> Norm | None:
    """What the card of the run's drafter leads to expect on such a prompt; None where there is no card."""
    method = METHODS.get(run.request.method)
    card = _card(str(run.meta.get("preset")), method.drafter) if method and method.drafter else None
    if not card:
        return None
    request = run.request
    alone = not (request.raw or request.system or request.history)  # as the held-out prompts were put
    source = next((p.source for p in examples() if alone and p.text == request.prompt), "")
    try:
        return norm(card, source, head=bool(method.head))
    except (KeyError, TypeError):  # a drafter of other people has a card of its own kind, or none
        return None


@functools.lru_cache(maxsize=32)  # names come with uploaded runs
def _card(preset: str, drafter: str) -> dict[str, Any] | None:
    try:
        folder = load(preset).drafters[drafter]
        return json.loads((Path(folder) / "card.json").read_text(encoding="utf-8"))
    except (PresetError, KeyError, OSError, ValueError):
        return None
