"""What the page has to say: whether the engine is ready, and sentences for the user."""

from typing import Literal

from dcoco_viz.components.view import View

Kind = Literal["busy", "ready", "info", "error"]

from gradio.events import Dependency

class Banner(View):
    """One sentence with its kind; empty when there is nothing to say."""

    def __init__(self, value: dict[str, str] | None = None, *, role: Literal["status", "alert"]):
        super().__init__(value, role=role)
        self.role = role
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component

def say(kind: Kind, text: str, detail: str = "") -> dict[str, str]:
    """A value for a Banner.

    Args:
        kind: busy (something is under way), ready, info or error.
        text: one plain sentence.
        detail: what stands behind it, smaller.
    """
    return {"kind": kind, "text": text, "detail": detail}
