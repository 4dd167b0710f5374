"""One press of a button that decodes: requests through the engine, one after the other."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING

from dcoco_viz.trace.schema import Request, Run
from dcoco_viz.trace.store import Store

if TYPE_CHECKING:
    from dcoco_viz.tabs.engine import Engine

log = logging.getLogger(__name__)


class Job:
    """Decodes in a task of its own: a browser that is slow, or goes away, does not hold the engine up."""

    def __init__(self, engine: "Engine", requests: list[Request], store: Store, owner: str = ""):
        """Begin as soon as the engine is free; it must have a session."""
        self.requests = requests
        self.runs: list[Run] = []
        self.error = ""  # one plain sentence when something went wrong
        self.dead = False  # the engine is gone
        self.waiting = engine.turn.locked()  # for its turn
        self.before = engine.queued + 1 if self.waiting else 0  # jobs that it waits for
        self._engine, self._session = engine, engine.session
        self._store, self._owner = store, owner
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._work())
        self._task.add_done_callback(lambda _: self._changed.set())

    @property
    def over(self) -> bool:
        return self._task.done()

    async def updates(self) -> AsyncIterator[None]:
        """Yields when something is new, and a last time when all is over."""
        while not self.over:
            await self._changed.wait()
            self._changed.clear()
            yield
        yield

    def stop(self) -> None:
        """Abort the request under way and drop the rest; the engine is free within a cycle."""
        self._task.cancel()

    async def _work(self) -> None:
        try:
            self._engine.queued += 1
            try:
                await self._engine.turn.acquire()
            finally:
                self._engine.queued -= 1
            try:
                self.waiting = False
                self._changed.set()
                for request in self.requests:
                    await self._decode(request)
            finally:
                self._engine.turn.release()
        except ValueError as error:  # a request that cannot be served
            self.error = sentence(error)
        except RuntimeError as error:  # EngineError
            self.error, self.dead = sentence(error), True
        except Exception as error:
            log.exception("a run failed")
            self.error = f"The run failed ({type(error).__name__}): the server's output says more."

    async def _decode(self, request: Request) -> None:
        async with aclosing(self._session.generate(request)) as events:
            async for event in events:
                run = event.run
                if not self.runs or self.runs[-1] is not run:
                    self.runs.append(run)
                    self._store.put(run, self._owner)
                self._changed.set()


MOST_QUEUED = 16  # jobs that wait for the engine before the page says that the server is busy


class Jobs:
    """The job of every open page, by its session; a page has one at a time."""

    def __init__(self):
        self._jobs: dict[str, Job] = {}

    def start(self, page: str, job: Job) -> Job:
        self.stop(page)
        self._jobs[page] = job
        return job

    def room(self, page: str, engine: "Engine") -> None:
        """Whether the page may begin a job.

        Raises:
            ValueError: it has one under way, or too many pages wait for the engine.
        """
        if self.busy(page):
            raise ValueError("This page is decoding already: stop that first, or wait until it is over.")
        if engine.queued >= MOST_QUEUED:
            raise ValueError(f"The server is busy: {engine.queued} others wait for the engine. Try again later.")

    def busy(self, page: str) -> bool:
        """Whether the page is decoding, or waits for its turn."""
        return page in self._jobs and not self._jobs[page].over

    def stop(self, page: str) -> None:
        """Stop what the page has under way, if anything."""
        if job := self._jobs.pop(page, None):
            job.stop()


def queue_note(job: Job) -> str:
    """What to say while a job waits for its turn; empty when it does not."""
    if not job.waiting:
        return ""
    others = "another one" if job.before == 1 else f"{job.before} others"
    return f"Waiting for the engine, which decodes one run at a time: {others} first. Stop takes this one out."


def sentence(error: Exception) -> str:
    """An error's message as a sentence."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
