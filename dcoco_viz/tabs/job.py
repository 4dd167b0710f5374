"""One press of Run: one or two requests through the engine, one after the other."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING

from dcoco_viz.trace.schema import Request, Run
from dcoco_viz.trace.store import Store

if TYPE_CHECKING:
    from dcoco_viz.engine.session import Session

log = logging.getLogger(__name__)


class Job:
    """Decodes in a task of its own: a browser that is slow, or goes away, does not hold the engine up."""

    def __init__(self, session: "Session", requests: list[Request], store: Store):
        self.requests = requests
        self.runs: list[Run] = []
        self.error = ""  # one plain sentence when something went wrong
        self.dead = False  # the engine is gone
        self._session, self._store = session, store
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
            for request in self.requests:
                await self._decode(request)
        except ValueError as error:  # a request that cannot be served
            self.error = _sentence(error)
        except RuntimeError as error:  # EngineError
            self.error, self.dead = _sentence(error), True
        except Exception as error:
            log.exception("a run failed")
            self.error = f"The run failed ({type(error).__name__}): the server's output says more."

    async def _decode(self, request: Request) -> None:
        async with aclosing(self._session.generate(request)) as events:
            async for event in events:
                run = event.run
                if not self.runs or self.runs[-1] is not run:
                    self.runs.append(run)
                    self._store.put(run)
                self._changed.set()


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
