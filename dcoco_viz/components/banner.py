"""What the page has to say: whether the engine is ready, and sentences for the user."""

from typing import Any, Literal

from dcoco_viz.components.view import View

Kind = Literal["busy", "ready", "info", "error"]


class Banner(View):
    """One sentence with its kind; empty when there is nothing to say."""

    def __init__(self, value: dict[str, str] | None = None, *, role: Literal["status", "alert"], **kwargs: Any):
        super().__init__(value, role=role, **kwargs)


def say(kind: Kind, text: str, detail: str = "") -> dict[str, str]:
    """A value for a Banner.

    Args:
        kind: busy (something is under way), ready, info or error.
        text: one plain sentence.
        detail: what stands behind it, smaller.
    """
    return {"kind": kind, "text": text, "detail": detail}
