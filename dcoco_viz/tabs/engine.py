"""The engine behind the page: it loads while the page is already there, and says how far it has come."""

import asyncio
import importlib
import logging
import time
from typing import TYPE_CHECKING

from dcoco_viz.components.banner import say
from dcoco_viz.presets import PresetError, load

if TYPE_CHECKING:
    from dcoco_viz.engine.session import Session

WATCH_SECONDS = 1  # between two looks at whether the engine's process is there

log = logging.getLogger(__name__)


class Engine:
    """At most one session, and the sentence that tells a user where it stands."""

    def __init__(self, preset: str | None, dtype: str = "auto"):
        """`preset` None: no engine at all, recorded traces only. `dtype` as `Session.start` takes it."""
        self.preset = preset
        self.dtype = dtype
        self.session: Session | None = None
        self.failure = ""
        self.turn = asyncio.Lock()  # one job at a time, whoever asks: its times are those of an idle engine
        self.queued = 0  # jobs that wait for their turn
        self._stage = "Starting …"
        self._began = time.monotonic()
        self._task: asyncio.Task | None = None

    @property
    def settled(self) -> bool:
        """Whether the state changes no more by itself."""
        return self.preset is None or self.session is not None or bool(self.failure)

    @property
    def methods(self) -> list[str]:
        return self.session.methods if self.session else []

    def begin(self) -> None:
        """Start loading; returns at once. To be called in the server's event loop."""
        if self.preset is not None:
            self._task = asyncio.create_task(self._load())

    async def close(self) -> None:
        """Stop loading, or stop the engine."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self.session is not None:
            await self.session.close()

    def lost(self, sentence: str) -> None:
        """The session is gone; say so to whoever opens the page."""
        self.session, self.failure = None, sentence

    def status(self) -> dict[str, str]:
        """A value for the status banner."""
        if self.preset is None:
            return say("info", "Showing a recorded trace: there is no engine behind this page.")
        if self.failure:
            return say("error", self.failure, "Recorded traces can still be opened.")
        if self.session is None:
            return say("busy", self._stage, f"{time.monotonic() - self._began:.0f} s")
        preset = self.session.preset
        return say("ready", f"{preset.label}, {self.session.dtype}", getattr(preset, "note", ""))

    async def _load(self) -> None:
        try:
            preset = await asyncio.to_thread(load, self.preset)
            self._say("loading vLLM")
            room = await asyncio.to_thread(importlib.import_module, "dcoco_viz.engine.session")  # takes seconds
            self.session = await room.Session.start(preset, dtype=self.dtype, progress=self._say)
            while self.session is not None and self.session.alive:
                await asyncio.sleep(WATCH_SECONDS)
            if self.session is not None:
                self.lost(room.DEAD)
        except (PresetError, RuntimeError) as error:  # EngineError is a RuntimeError
            self.failure = str(error)
        except Exception as error:
            log.exception("the engine did not start")
            self.failure = (
                f"The engine could not start ({type(error).__name__}: {error}): "
                "run `python -m dcoco_viz doctor` to see what is missing."
            )

    def _say(self, stage: str) -> None:
        self._stage = f"{stage[:1].upper()}{stage[1:].rstrip('.')} …"
