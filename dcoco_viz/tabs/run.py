"""What happens in Explore: run, stop, save, open."""

import asyncio
import contextlib
import logging
import re
import tempfile
import uuid
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from dcoco_viz.components.banner import say
from dcoco_viz.components.feed import Sender
from dcoco_viz.tabs import ask, explore
from dcoco_viz.tabs.explore import NOBODY
from dcoco_viz.tabs.house import MOST, House
from dcoco_viz.tabs.job import Job, queue_note
from dcoco_viz.tabs.visitor import visitor
from dcoco_viz.trace import files
from dcoco_viz.trace.schema import Request, Run
from dcoco_viz.trace.store import Store

log = logging.getLogger(__name__)

NOT_READY = "The engine is not ready yet: try again when it is."
PACE = 0.03  # seconds between two updates of one page at least


class ExploreTab:
    """The tab and its events."""

    def __init__(self, house: House):
        self._house = house
        self.parts = explore.build(house.store, house.engine.status(), live=house.engine.preset is not None)
        self.outputs = [*self.parts.feeds, self.parts.download]

    @property
    def decoding(self) -> list[Any]:
        """What `decode` may change."""
        house, parts = self._house, self.parts
        return [*self.outputs, parts.run, parts.stop, parts.start, house.notice, house.status, house.current]

    def wire(self, demo: gr.Blocks) -> None:
        house, parts = self._house, self.parts
        parts.run.click(
            self._run,
            [house.current, parts.method, parts.compare, parts.walk, parts.slots, *house.deck.inputs],
            self.decoding,
            concurrency_limit=None,  # jobs wait for their turn themselves, and say so
            show_progress="minimal",
            show_progress_on=[house.notice],
            api_visibility="private",
        )
        parts.stop.click(self._stop, queue=False, api_visibility="private")
        parts.upload.upload(self._open, parts.upload, self.decoding, api_visibility="private")
        demo.unload(self._stop)

    def show(self, runs: list[Run], owner: str) -> dict[Any, Any]:
        """Put the first two into the lanes; with none, leave what is there."""
        if not runs:
            return {}
        lanes = dict(zip(self.parts.feeds, explore.values(runs), strict=True))
        return {self.parts.download: gr.DownloadButton(value=None, interactive=False), **lanes}

    async def decode(
        self, requests: list[Request], current: list[str], page: gr.Request, beside: Sequence[Run] = ()
    ) -> AsyncIterator[dict[Any, Any]]:
        """Decode into the lanes, live, and make the runs those that the page is about.

        Args:
            requests: as many as lanes are left.
            current: ids of the runs that the page is about; they come back where nothing could be decoded.
            beside: finished runs that take the first lanes.

        Yields:
            updates of `decoding`.
        """
        house, parts = self._house, self.parts
        try:
            if house.engine.session is None:
                raise ValueError(house.engine.failure or NOT_READY)
            house.jobs.room(page.session_hash, house.engine)
        except ValueError as error:
            yield {house.notice: say("error", str(error))}
            return
        job = Job(house.engine, requests, house.store, visitor(page))
        house.jobs.start(page.session_hash, job)
        try:
            busy = {parts.run: gr.Button(interactive=False), parts.stop: gr.Button(interactive=True)}
            note = queue_note(job)
            said = say("info", note) if note else None
            yield {house.notice: said, parts.download: gr.DownloadButton(interactive=False), **busy}
            async for feeds in self._follow(job, beside):
                if note and not job.waiting:
                    note, feeds = "", {house.notice: None, **feeds}
                # With every update, since a browser that gets two at once applies the second alone.
                yield {**busy, **feeds}
        finally:
            job.stop()
        if job.dead:
            house.engine.lost(job.error)
        runs = [*beside, *job.runs] if job.runs else house.store.some(current)
        async with _saved(runs) as path:
            yield {
                **(await asyncio.to_thread(self.show, runs, visitor(page)) if not job.runs else {}),
                house.notice: say("error", job.error) if job.error else None,
                parts.run: gr.Button(interactive=not job.dead),
                parts.stop: gr.Button(interactive=False),
                parts.start: house.engine.status(),
                parts.download: gr.DownloadButton(value=path, interactive=path is not None),
                house.current: [run.id for run in runs],
                house.status: house.engine.status(),
            }

    async def _run(self, page: gr.Request, current, method, compare, walk, slots, *deck):
        # `page` stands first, since Gradio fills it in among the positional arguments only
        ways = [{"method": name, "walk": walk, "slots": slots} for name in (method, compare) if name != NOBODY]
        try:
            requests = ask.requests(dict(zip(ask.FIELDS, deck, strict=True)), ways)
        except ValueError as error:
            yield {self._house.notice: say("error", str(error))}
            return
        async for updates in self.decode(requests, current, page):
            yield updates

    async def _follow(self, job: Job, beside: Sequence[Run]) -> AsyncIterator[dict[Any, Any]]:
        """Values of both feeds, whenever the job has something new; a lane that got no run is empty at the end."""
        senders = [Sender(Run(uuid.uuid4().hex, request, [])) for request in job.requests]
        values = [sender.value("waiting") for sender in senders]
        before = await asyncio.to_thread(lambda: [Sender(run).value("done") for run in beside])
        free = [None] * (len(self.parts.feeds) - len(before) - len(values))
        yield dict(zip(self.parts.feeds, [*before, *values, *free], strict=True))
        shown = 0
        async for _ in job.updates():
            for i, run in enumerate(job.runs):
                if i == shown:
                    senders[i] = Sender(run)
                    shown += 1
                if i >= shown - 1 or job.over:
                    ended = job.over or i < len(job.runs) - 1
                    values[i] = senders[i].value("done" if ended else "running")
            if job.over:
                values[shown:] = [None] * (len(values) - shown)
            yield dict(zip(self.parts.feeds, [*before, *values, *free], strict=True))
            await asyncio.sleep(PACE)

    def _stop(self, page: gr.Request) -> None:
        self._house.jobs.stop(page.session_hash)

    async def _open(self, path: str, page: gr.Request):
        house, parts = self._house, self.parts
        try:
            runs = await asyncio.to_thread(files.load, path)
        except files.TraceError as error:
            return {house.notice: say("error", str(error))}
        adopt(runs, house.store, visitor(page))
        more = f"{Path(path).name} holds {len(runs)} runs; the first two are shown." if len(runs) > 2 else ""
        return {
            **await asyncio.to_thread(self.show, runs, visitor(page)),
            house.notice: say("info", more) if more else None,
            parts.download: gr.DownloadButton(value=path, interactive=True),
            house.current: [run.id for run in runs[:MOST]],
        }


@contextlib.asynccontextmanager
async def _saved(runs: list[Run]) -> AsyncIterator[str | None]:
    """A file with these runs, there while the context lasts; None where there is nothing to save."""
    with tempfile.TemporaryDirectory(prefix="dcoco-viz-") as folder:
        try:
            path = None
            if runs:
                methods = "-".join(re.sub(r"[^\w-]+", "-", run.request.method)[:40] for run in runs)  # as uploaded
                path = Path(folder) / f"{methods}-{runs[0].id[:8]}.parquet"
                await asyncio.to_thread(files.save, path, runs)
            yield path and str(path)
        except files.TraceError:
            log.exception("a run could not be saved")
            yield None


def adopt(runs: list[Run], store: Store, owner: str = "") -> None:
    """Take loaded runs into the store under new ids: a file must not name somebody else's run.

    A branch and its parent that came in one file stay linked.
    """
    before = [run.id for run in runs]
    for run in runs:
        run.id = uuid.uuid4().hex
    renamed = dict(zip(before, (run.id for run in runs), strict=True))
    for run in runs:
        parent = run.request.parent
        if parent and parent.run in renamed:
            parent = parent.model_copy(update={"run": renamed[parent.run]})
            run.request = run.request.model_copy(update={"parent": parent})
        run.finish_reason = run.finish_reason or "abort"  # saved as it was decoded: nobody goes on with it
        store.put(run, owner)
