"""Taking another candidate: a run that leaves its parent at one slot and is decoded on from there, beside it."""

from typing import TYPE_CHECKING, Any

import gradio as gr
from pydantic import ValidationError

from dcoco_viz.components.banner import say
from dcoco_viz.components.branch import Branch
from dcoco_viz.tabs.house import House
from dcoco_viz.tabs.links import GONE
from dcoco_viz.tabs.run import NOT_READY, ExploreTab
from dcoco_viz.trace.schema import Parent, Request, Run

if TYPE_CHECKING:
    from dcoco_viz.engine.session import Session

SHORTEST = 16  # tokens that a branch may decode at least, however near its parent was to its own limit
REPLAYED = "This page shows recorded runs without an engine: start the app without --replay to branch."
OTHER = (
    "This run was recorded with another model ({theirs}) than the one that is loaded ({ours}): its tokens mean nothing "
    "here. Start the app with that preset to branch."
)


def request(parent: Run, place: Parent, meta: dict[str, Any]) -> Request:
    """What to decode: the parent's answer up to a slot of one of its blocks, then one of the candidates there.

    Args:
        place: which candidate.
        meta: of the engine that is to decode it (`Session.meta`).

    Raises:
        ValueError: there is no such branch; one sentence.
    """
    _same_model(parent, meta)
    if parent.finish_reason is None:
        raise ValueError("This run is still being decoded: branch when it is finished, or stop it.")
    if place.cycle >= len(parent.cycles):
        raise ValueError(f"This run has {len(parent.cycles)} cycles: there is no cycle {place.cycle + 1} to branch in.")
    cycle = parent.cycles[place.cycle]
    if cycle.candidates is None:
        raise ValueError("No candidates were recorded in this cycle: there is nothing to choose from.")
    slots, pool = cycle.candidates.shape
    if place.slot > slots or place.rank >= pool:
        raise ValueError(f"This block has {slots} slots of {pool} candidates: there is no candidate at that place.")
    before = cycle.anchor_position + place.slot - len(parent.prompt_ids)
    if before > len(parent.token_ids) or (before == len(parent.token_ids) and parent.finish_reason == "stop"):
        raise ValueError("The text ends before this slot: branch at a slot that the text has reached.")
    token = int(cycle.candidates[place.slot - 1, place.rank])
    if token in parent.meta.get("special_ids", ()):
        raise ValueError("This candidate would end the text or is a control token: nothing can be decoded behind it.")
    kept = parent.token_ids[:before]
    asked = parent.request
    return Request(
        **asked.model_dump(exclude={"continued", "parent", "max_tokens", "record"}),
        continued=[*asked.continued, *kept, token],
        parent=place,
        max_tokens=max(SHORTEST, asked.max_tokens - len(kept) - 1),
        record="full",
    )


def _same_model(run: Run, meta: dict[str, Any]) -> None:
    """Refuse tokens of another vocabulary: by the verifier's hash where both have one, else by the preset."""
    key = "verifier" if run.meta.get("verifier") and meta.get("verifier") else "preset"
    if run.meta.get(key) != meta.get(key):
        names = {"theirs": run.meta.get("preset", "unknown"), "ours": meta.get("preset")}
        raise ValueError(OTHER.format(**names))


def wire(house: House, explore: ExploreTab) -> None:
    """Connect the view's event; it is built here, inside a Blocks context."""

    async def branch(current: list[str], event: gr.EventData, page: gr.Request):
        session: Session | None = house.engine.session
        try:
            if session is None:
                raise ValueError(house.engine.failure or (NOT_READY if house.engine.preset else REPLAYED))
            place = Parent.model_validate(event._data)
            parent = house.store.get(place.run)
            if parent is None:
                raise ValueError(GONE)
            asked = request(parent, place, session.meta)
        except ValidationError:
            yield {house.notice: say("error", "There is no candidate at that place.")}
            return
        except ValueError as error:
            yield {house.notice: say("error", str(error))}
            return
        async for updates in explore.decode([asked], current, page, beside=[parent]):
            yield updates

    Branch().branch(
        branch,
        house.current,
        explore.decoding,
        concurrency_limit=None,
        show_progress="minimal",
        show_progress_on=[house.notice],
        api_visibility="private",
    )
