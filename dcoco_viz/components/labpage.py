"""The page of text beside the path lab: what this very trace says about sums and prefixes."""

from typing import TYPE_CHECKING, Any

from dcoco_viz.components.lab import signed
from dcoco_viz.components.view import View
from dcoco_viz.components.wire import text
from dcoco_viz.trace.schema import Run

if TYPE_CHECKING:  # the lab loads torch, which takes seconds
    from dcoco_viz.lab.lesson import Lesson
    from dcoco_viz.lab.parting import Path, Picture

MECHANISM = (
    "Verification reads a block from the left and stops at the first token it refuses. Greedy, the prefix-first walk, "
    "takes at every slot the best successor of what it has just chosen. Global-sum takes the path whose transition "
    "scores add up to most over the whole block: it will give something away at an early slot when later slots pay "
    "it back. When the early choice is the wrong one, those later slots are never looked at."
)
WEAKNESSES = (
    "First order only: S compares neighbours, and two tokens that clash two slots apart look fine to it.",
    "Greedy has no look-ahead and no way back; beam and global-sum have both, and pay for slots that do not count.",
    "K and the number of slots are the same in every domain. In the paper top-1 falls from 0.81 at the first slot "
    "to 0.15 at the last, and chat has a τ of only 2.5 to 2.9: K, slots and +cut show here what fewer would do.",
    "A head belongs to the one verifier it was trained with.",
)
PAPER = (
    ("global-sum against greedy", "worse on every suite"),
    ("geometric:0.75, τ", "5.258"),
    ("greedy, τ", "5.254, with 2.8% more tokens a second"),
)


class Labpage(View):
    """Paragraphs of words and tokens; a picture's cycle can be opened in Explore."""


def page(run: Run, found: "Lesson | None") -> dict[str, Any]:
    """A value for a Labpage; without a lesson it is the page of a serial head's run."""
    return {
        "run": run.id,
        "story": [part for part in _story(run, found) if part],
        "weaknesses": WEAKNESSES,
        "paper": PAPER,
        "mechanism": MECHANISM,
    }


def _story(run: Run, found: "Lesson | None") -> list[dict[str, Any] | None]:
    """Paragraphs about this run: {parts: [text or {token}], cycle?: index of the one they are about}."""
    if found is None:
        return [
            _words(
                "This run's head chose slot by slot and scored only the successors of what it had chosen. What "
                "global-sum would add up was never computed: choose a DCOCO run to see the two part."
            )
        ]
    if not found.scored:
        return [
            _words(
                "This run has no head: S(a, b) is the draft logit of b, whatever a is. The best successor is the "
                "same after every token, so that greedy and global-sum are the same path in every cycle. Choose a "
                "DCOCO run to see them part."
            )
        ]
    difference, better, worse, equal = found.paired
    count = len(found.greedy.cycles)
    told = "accepted" if run.request.temperature == 0 else "agrees with the sampled text for"
    head = _words(
        f"In this run, over its {count} recorded anchors and whole blocks, greedy {told} {found.greedy.mean:.3f} "
        f"tokens a cycle and global-sum {found.total.mean:.3f} ({signed(difference, 3)}). Their paths differ in "
        f"{found.parted} cycles; global-sum comes less far in {worse}, further in {better}, equally far in {equal}."
    )
    if found.lost is None:
        lost = _words(
            "No cycle of this run shows global-sum losing to greedy: where the two paths differ, they differ behind "
            "the point at which verification stops, or the sum came out ahead."
            if found.parted
            else "In no cycle of this run do the two choose different paths."
        )
    else:
        lost = _lost(run, found.lost)
    won = found.won and _won(run, found.won)
    return [head, lost, won]


def _lost(run: Run, shown: "Picture") -> dict[str, Any]:
    greedy, total = shown.paths
    slot = shown.parts
    return {
        "cycle": shown.cycle,
        "parts": [
            f"Where it lost most: cycle {shown.cycle + 1}, slot {slot + 1}. ",
            *_choice(run, shown, slot),
            f" Over the whole block global-sum ends with {total.sums[-1]:.2f} against greedy's {greedy.sums[-1]:.2f}, "
            f"{signed(total.sums[-1] - greedy.sums[-1], 2)}. The text has ",
            _token(run, shown.truth[slot]),
            f" at slot {slot + 1}: greedy's path is right for {_tokens(greedy)}, global-sum's for {_tokens(total)}. "
            f"What it gained from slot {slot + 2} on was never looked at.",
        ],
    }


def _won(run: Run, shown: "Picture") -> dict[str, Any]:
    greedy, total = shown.paths
    slot = shown.parts
    return {
        "cycle": shown.cycle,
        "parts": [
            f"It can go the other way: cycle {shown.cycle + 1}, slot {slot + 1}. ",
            *_choice(run, shown, slot),
            " The text has ",
            _token(run, shown.truth[slot]),
            f" there: global-sum's path is right for {_tokens(total)}, greedy's for {_tokens(greedy)}. Here the later "
            "slots knew better than the step itself.",
        ],
    }


def _choice(run: Run, shown: "Picture", slot: int) -> list[Any]:
    """What each walk took at the slot where they part; slot 1 is the same in both."""
    greedy, total = shown.paths
    given = greedy.steps[slot - 1] - total.steps[slot - 1]
    return [
        "After ",
        _token(run, greedy.tokens[slot - 1]),
        " greedy takes ",
        _token(run, greedy.tokens[slot]),
        f" (S = {greedy.steps[slot - 1]:.3f}) and global-sum ",
        _token(run, total.tokens[slot]),
        f" (S = {total.steps[slot - 1]:.3f}), which gives {given:.3f} away.",
    ]


def _tokens(path: "Path") -> str:
    return "1 token" if path.accepted == 1 else f"{path.accepted} tokens"


def _token(run: Run, token: int) -> dict[str, str]:
    return {"token": text(run, token)}


def _words(sentence: str) -> dict[str, Any]:
    return {"parts": [sentence]}
