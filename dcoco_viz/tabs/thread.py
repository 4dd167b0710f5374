"""The chat of the deck: going on from an answer, starting anew, and what applies to a raw completion."""

from typing import Any

import gradio as gr

from dcoco_viz.components.banner import say
from dcoco_viz.components.turns import thread
from dcoco_viz.tabs.deck import told, wording
from dcoco_viz.tabs.house import House
from dcoco_viz.trace.pieces import join
from dcoco_viz.trace.schema import Run


def answer(run: Run) -> str:
    """All that the assistant said: the text that a branch goes on from, then the run's own."""
    begun, special = len(run.request.continued), set(run.meta.get("special_ids", ()))
    ids = run.prompt_ids[len(run.prompt_ids) - begun :]
    return join(run.pieces.get(i, "") for i in ids if i not in special) + run.text


def chat(run: Run) -> list[dict[str, str]]:
    """The messages up to and with this run's answer.

    Raises:
        ValueError: there is no chat to go on from; one sentence.
    """
    if run.finish_reason is None:
        raise ValueError("This answer is still being decoded: reply when it is finished, or stop it.")
    if run.request.raw:
        raise ValueError("This text completes another one as it stands: there is no chat to reply in.")
    text = answer(run)
    if not text.strip():
        raise ValueError("This answer is empty: there is nothing to reply to.")
    turns = [turn.model_dump() for turn in run.request.history]
    return [*turns, {"role": "user", "content": run.request.prompt}, {"role": "assistant", "content": text}]


def wire(house: House) -> None:
    """Connect the deck's own events."""
    deck, private = house.deck, {"show_progress": "hidden", "queue": False, "api_visibility": "private"}

    def reply(event: gr.EventData) -> dict[Any, Any]:
        run = house.store.get(str(event._data["run"] or ""))
        try:
            if run is None:
                raise ValueError("There is no answer to reply to: run the prompt first.")
            turns = chat(run)
        except ValueError as error:
            return {house.notice: say("error", str(error))}
        return {
            deck.prompt: "",
            deck.system: run.request.system,
            deck.history: turns,
            deck.raw: False,
            deck.turns: thread(turns, raw=False),
            deck.more: gr.Accordion(label=told(run.request.system, raw=False)),
            house.notice: None,
        }

    def fresh(raw: bool) -> dict[Any, Any]:
        return {deck.history: [], deck.turns: thread([], raw=raw)}

    def mode(raw: bool, system: str, turns: list[dict[str, str]]) -> dict[Any, Any]:
        return {
            deck.prompt: gr.Textbox(**wording(raw=raw)),
            deck.system: gr.Textbox(interactive=not raw),
            deck.turns: thread(turns, raw=raw),
            deck.more: gr.Accordion(label=told(system, raw=raw)),
        }

    def finished(current: list[str]) -> str | None:
        return next((run.id for run in house.store.some(current) if run.finish_reason), None)

    outputs = [deck.prompt, deck.system, deck.history, deck.raw, deck.turns, deck.more, house.notice]
    deck.turns.reply(reply, None, outputs, **private)
    deck.turns.fresh(fresh, deck.raw, [deck.history, deck.turns], **private)
    deck.raw.change(
        mode, [deck.raw, deck.system, deck.history], [deck.prompt, deck.system, deck.turns, deck.more], **private
    )
    deck.system.blur(
        lambda system, raw: gr.Accordion(label=told(system, raw=raw)), [deck.system, deck.raw], deck.more, **private
    )
    house.current.change(finished, house.current, deck.reply, **private)
