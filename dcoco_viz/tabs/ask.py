"""From what the user typed to requests, or to the sentence that says what to change."""

from typing import Any

from pydantic import ValidationError

from dcoco_viz.trace.schema import Request

LONGEST = 20_000  # characters of a prompt; far more than any preset's context holds

NAMES = {"slots": "Slots", "temperature": "Temperature", "max_tokens": "Max tokens", "seed": "The seed"}


def requests(prompt: str | None, methods: list[str], **settings: Any) -> list[Request]:
    """One request a method, the same otherwise.

    Raises:
        ValueError: one plain sentence about the first thing that is wrong.
    """
    prompt = prompt or ""
    if not prompt.strip():
        raise ValueError("Type a prompt first, or choose one of the examples.")
    if len(prompt) > LONGEST:
        raise ValueError(
            f"This prompt has {len(prompt):,} characters and the longest allowed is {LONGEST:,}: shorten it."
        )
    try:
        return [Request(prompt=prompt, method=method, **settings) for method in methods]
    except ValidationError as error:
        raise ValueError(_sentence(error.errors()[0])) from error


def _sentence(error: Any) -> str:
    name = str(error["loc"][0])
    field = Request.model_json_schema()["properties"].get(name, {})
    if "minimum" in field:
        low, high = field["minimum"], field["maximum"]
        return f"{NAMES.get(name, name)} must be a number from {low:,.10g} to {high:,.10g}."
    return f"{NAMES.get(name, name)} cannot be {error['input']!r}."
