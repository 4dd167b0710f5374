"""The chat that a prompt goes on from."""

from typing import Any

from dcoco_viz.components.view import View


class Turns(View):
    """Earlier messages, above the prompt; takes no room while there are none.

    Its events: `reply` {run} asks the server to go on from the answer of a run, `fresh` to forget the chat. From any
    view, `window.dcoco.reply(run)` asks for the former.
    """


def thread(turns: list[dict[str, str]], *, raw: bool) -> dict[str, Any]:
    """A value for Turns.

    Args:
        turns: role (user or assistant) and content, the oldest first.
        raw: whether the next prompt is completed as it stands, so that the chat does not count.
    """
    return {"turns": turns, "raw": raw}
