"""From what the user typed to requests, or to the sentence that says what to change."""

from typing import Any

from pydantic import ValidationError

from dcoco_viz.methods import METHODS
from dcoco_viz.tabs.job import sentence
from dcoco_viz.trace.schema import Request

LONGEST = 20_000  # characters of a prompt; far more than any preset's context holds

NAMES = {"slots": "Slots", "temperature": "Temperature", "max_tokens": "Max tokens", "seed": "The seed"}

# What a menu of walks offers; any other name that lattice/walk.py can read may be typed.
WALKS = ("greedy", "global-sum", "geometric:0.75", "beam:4", "greedy+top:4", "greedy+cut:0.3", "greedy+auto")
GRAMMAR = (  # HTML
    "Walk: <code>greedy</code>, <code>global-sum</code>, <code>geometric:L</code> or <code>beam:W</code>; behind it "
    "may stand <code>+top:M</code> (only the M best successors), <code>+cut:P</code> (the block ends where the path’s "
    "draft probability falls below P), <code>+k:N</code> (only N candidates a slot), <code>+auto</code> (the block "
    "ends where one more slot costs more time than it gains here and now). "
    + " and ".join(method.label for method in METHODS.values() if method.serial)
    + " choose slot by slot: <code>greedy</code>, with <code>+cut:P</code> or <code>+auto</code> at most."
)

FIELDS = ("prompt", "system", "history", "raw", "temperature", "max_tokens", "seed")  # what the deck asks, in its order


def requests(asked: dict[str, Any], ways: list[dict[str, Any]]) -> list[Request]:
    """One request a way to decode, the same otherwise.

    Args:
        asked: FIELDS and their values; what is left out is the default. A raw completion has no system prompt and no
            history, whatever stands there.
        ways: method, walk and slots of each; what is left out is the default. The walk's name may be any that
            lattice/walk.py reads; requests have the canonical one.

    Raises:
        ValueError: one plain sentence about the first thing that is wrong.
    """
    prompt, system = asked.get("prompt") or "", asked.get("system") or ""
    if not prompt.strip():
        raise ValueError("Type a prompt first, or choose one of the examples.")
    for name, text in (("prompt", prompt), ("system prompt", system)):
        if len(text) > LONGEST:
            raise ValueError(
                f"This {name} has {len(text):,} characters and the longest allowed is {LONGEST:,}: shorten it."
            )
    chat = {"system": "", "history": []} if asked.get("raw") else {"system": system if system.strip() else ""}
    ways = [{**way, "walk": _walk(way["walk"], way.get("method"))} if "walk" in way else way for way in ways]
    try:
        return [Request(**{**asked, "prompt": prompt, **chat, **way}) for way in ways]
    except ValidationError as error:
        raise ValueError(_sentence(error.errors()[0])) from error


def _walk(name: str | None, method: str | None) -> str:
    from dcoco_viz.lattice.walk import parse  # torch, which a page without an engine does not load
    from dcoco_viz.methods.walks import check

    try:
        walk = parse(str(name or "").strip())
        if method in METHODS:
            check(METHODS[method], walk)
    except ValueError as error:
        raise ValueError(sentence(error)) from error
    return walk.name


def _sentence(error: Any) -> str:
    name = str(error["loc"][0])
    field = Request.model_json_schema()["properties"].get(name, {})
    if "minimum" in field:
        low, high = field["minimum"], field["maximum"]
        return f"{NAMES.get(name, name)} must be a number from {low:,.10g} to {high:,.10g}."
    return f"{NAMES.get(name, name)} cannot be {error['input']!r}."
