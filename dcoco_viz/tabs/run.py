"""What happens in Explore: run, stop, save, open."""

import asyncio
import contextlib
import logging
import tempfile
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import gradio as gr

from dcoco_viz.components.banner import say
from dcoco_viz.components.feed import Sender
from dcoco_viz.tabs import ask
from dcoco_viz.tabs.engine import Engine
from dcoco_viz.tabs.explore import NOBODY, Explore
from dcoco_viz.tabs.job import Job
from dcoco_viz.trace import files
from dcoco_viz.trace.schema import Run
from dcoco_viz.trace.store import Store

log = logging.getLogger(__name__)

WAITING = 16  # runs in the queue before the page says that the server is busy
PACE = 0.03  # seconds between two updates of one page at least


class Explorer:
    """The events of the tab. It holds the job that each open page has under way, by the page's session."""

    def __init__(self, tab: Explore, engine: Engine, store: Store):
        self._tab, self._engine, self._store = tab, engine, store
        self._jobs: dict[str, Job] = {}

    def wire(self, demo: gr.Blocks, status: gr.components.Component) -> None:
        """Connect the tab, inside its Blocks context; `status` is the engine's banner."""
        tab = self._tab
        self._status = status
        self._ids = gr.State([])  # of the runs on this page; the runs themselves stay in the store
        outputs = [*tab.feeds, tab.notice, tab.run, tab.stop, tab.download, self._ids, status]
        gr.on(
            [tab.run.click, tab.prompt.submit],
            self._run,
            tab.settings,
            outputs,
            concurrency_id="engine",
            concurrency_limit=1,  # one at a time: times on the page are those of an idle engine
            show_progress="minimal",
            show_progress_on=[tab.notice],
            api_visibility="private",
        )
        tab.stop.click(self._stop, queue=False, api_visibility="private")
        tab.upload.upload(self._open, tab.upload, outputs, api_visibility="private")
        demo.unload(self._stop)

    async def _run(self, prompt, method, compare, slots, temperature, max_tokens, seed, page: gr.Request):
        tab, session = self._tab, self._engine.session
        methods = [method] if compare == NOBODY else [method, compare]
        settings = {"slots": slots, "temperature": temperature, "max_tokens": max_tokens, "seed": seed}
        try:
            if session is None:
                raise ValueError(self._engine.failure or "The engine is not ready yet: try again when it is.")
            requests = ask.requests(prompt, methods, **settings)
        except ValueError as error:
            yield {tab.notice: say("error", str(error))}
            return
        job = self._jobs[page.session_hash] = Job(session, requests, self._store)
        try:
            busy = {tab.run: gr.Button(interactive=False), tab.stop: gr.Button(interactive=True)}
            yield {tab.notice: None, tab.download: gr.DownloadButton(interactive=False), **busy}
            async for feeds in self._follow(job):
                yield feeds
        finally:
            job.stop()
            self._jobs.pop(page.session_hash, None)
        if job.dead:
            self._engine.lost(job.error)
        async with _saved(job.runs) as path:
            yield {
                tab.notice: say("error", job.error) if job.error else None,
                tab.run: gr.Button(interactive=not job.dead),
                tab.stop: gr.Button(interactive=False),
                tab.download: gr.DownloadButton(value=path, interactive=path is not None),
                self._ids: [run.id for run in job.runs],
                self._status: self._engine.status(),
            }

    async def _follow(self, job: Job) -> AsyncIterator[dict[Any, Any]]:
        """Values of both feeds, whenever the job has something new."""
        senders = [Sender(Run(uuid.uuid4().hex, request, [])) for request in job.requests]
        values = [sender.value("waiting") for sender in senders] + [None] * (2 - len(senders))
        yield dict(zip(self._tab.feeds, values, strict=True))
        shown = 0
        async for _ in job.updates():
            for i, run in enumerate(job.runs):
                if i == shown:
                    senders[i] = Sender(run)
                    shown += 1
                if i >= shown - 1 or job.over:
                    ended = job.over or i < len(job.runs) - 1
                    values[i] = senders[i].value("done" if ended else "running")
            yield dict(zip(self._tab.feeds, values, strict=True))
            await asyncio.sleep(PACE)

    def _stop(self, page: gr.Request) -> None:
        if job := self._jobs.get(page.session_hash):
            job.stop()

    async def _open(self, path: str):
        tab = self._tab
        try:
            runs = await asyncio.to_thread(files.load, path)
            if not runs:
                raise files.TraceError(f"{Path(path).name} holds no run.")
        except files.TraceError as error:
            return {tab.notice: say("error", str(error))}
        adopt(runs, self._store)
        more = f"{Path(path).name} holds {len(runs)} runs; the first two are shown." if len(runs) > 2 else ""
        return {
            **dict(zip(tab.feeds, show(runs), strict=True)),
            tab.notice: say("info", more) if more else None,
            tab.download: gr.DownloadButton(value=path, interactive=True),
            self._ids: [run.id for run in runs],
        }


@contextlib.asynccontextmanager
async def _saved(runs: list[Run]) -> AsyncIterator[str | None]:
    """A file with these runs, there while the context lasts; None where there is nothing to save."""
    with tempfile.TemporaryDirectory(prefix="dcoco-viz-") as folder:
        try:
            path = None
            if runs:
                methods = "-".join(run.request.method for run in runs)
                path = Path(folder) / f"{methods}-{runs[0].id[:8]}.parquet"
                await asyncio.to_thread(files.save, path, runs)
            yield path and str(path)
        except files.TraceError:
            log.exception("a run could not be saved")
            yield None


def adopt(runs: list[Run], store: Store) -> None:
    """Take loaded runs into the store under new ids: a file must not name somebody else's run."""
    for run in runs:
        run.id = uuid.uuid4().hex
        store.put(run)


def show(runs: list[Run]) -> list[dict[str, Any] | None]:
    """Values that put the first two finished runs into the two lanes."""
    values = [Sender(run).value("done") for run in runs[:2]]
    return values + [None] * (2 - len(values))
