"""Engines in other states: with a prefix cache, dead, or not startable."""

import asyncio
import os
import signal

import psutil
import pytest

from dcoco_viz.engine import launch
from dcoco_viz.engine.session import EngineError, Session
from dcoco_viz.trace.schema import Request
from tests.engine.conftest import run


async def test_prefix_caching_changes_nothing_and_a_dead_engine_says_so(session, preset, monkeypatch):
    """Both on one extra engine, as a start takes its time.

    Acceptance is reported to collapse with prefix caching when a drafter finds another's keys and values in the
    cache: a plain run, then both drafters, twice over the same long prompt, must draft as they do without it.
    """
    prompt = "Repeat after me, slowly and clearly: " + "the quick brown fox jumps over the lazy dog. " * 12
    prepare = launch.prepare

    def cached(*args):
        setup = prepare(*args)
        setup.args.enable_prefix_caching = True
        return setup

    monkeypatch.setattr(launch, "prepare", cached)
    other = await Session.start(preset, dtype="float32")
    try:
        for method in ("none", "dflash", "dcoco", "none", "dcoco", "dflash"):
            here, there = await asyncio.gather(
                run(other, prompt, method, max_tokens=32), run(session, prompt, method, max_tokens=32)
            )
            assert here.token_ids == there.token_ids
            assert [c.accepted for c in here.cycles] == [c.accepted for c in there.cycles], method

        stream = other.generate(Request(prompt=prompt, method="dcoco", max_tokens=200))
        await anext(stream)
        for process in psutil.Process().children(recursive=True):
            if "EngineCore" in process.name() and process.pid in _engine_pids(other):
                os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(EngineError, match="engine process has died"):
            async for _ in stream:
                pass
        with pytest.raises(EngineError, match="engine process has died"):
            await run(other, prompt, "none", max_tokens=4)
        assert not other.alive and session.alive
    finally:
        await other.close()
    assert (await run(session, prompt, "dcoco", max_tokens=4)).finish_reason == "length"


def _engine_pids(session: Session) -> list[int]:
    return [process.pid for process in session._engine.engine_core.resources.engine_manager.processes]


async def test_what_cannot_start_says_why(preset, tmp_path):
    missing = preset.model_copy(update={"drafters": {"dflash": str(tmp_path)}})
    with pytest.raises(EngineError, match="There is no drafter in"):
        await Session.start(missing)
    with pytest.raises(EngineError, match="names no drafter"):
        await Session.start(preset.model_copy(update={"drafters": {}}))
