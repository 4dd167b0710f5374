"""The engine as the rest of the project sees it: start, generate, close.

One engine serves any number of requests at once, each with its own method. Cycle records are fetched from the engine
process as text arrives and clipped here, because vLLM's runner commits past EOS, stop strings and the token cap.
"""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from vllm import SamplingParams
from vllm.sampling_params import RequestOutputKind
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.exceptions import EngineDeadError

from dcoco_viz.engine import launch
from dcoco_viz.engine.prompt import read
from dcoco_viz.engine.recorder import Rule, unpack
from dcoco_viz.engine.vocabulary import pieces
from dcoco_viz.lattice.walk import parse
from dcoco_viz.methods import METHODS, walks
from dcoco_viz.presets import Preset
from dcoco_viz.trace.pieces import join
from dcoco_viz.trace.schema import Cycle, Request, Run
from dcoco_viz.verifier import VerifierError

DEAD = (
    "The engine process has died; its log on the terminal says why. "
    "Start the app again: runs that were recorded can still be saved."
)


class EngineError(RuntimeError):
    """The engine cannot serve; the message is one sentence for the user."""


class Event(NamedTuple):
    """What is new in a run."""

    text: str  # text since the last event, special tokens left out
    cycles: list[Cycle]  # cycles since the last event
    run: Run  # the growing run, the same object every time


class Session:
    """A running engine. Make one with `await Session.start(preset)`."""

    def __init__(self, preset: Preset, engine: AsyncLLM, setup: launch.Setup):
        self.preset = preset
        self.dtype = setup.dtype
        self.methods = setup.methods
        self.meta = setup.meta
        self.limit = setup.limit  # longest prompt + output, in tokens
        self._engine = engine
        self._tokenizer = engine.get_tokenizer()
        self._pieces = pieces(self._tokenizer, engine.model_config.get_vocab_size())
        self._special = sorted(self._tokenizer.all_special_ids)
        self._arrived: dict[str, list[dict[str, Any]]] = {}  # records by run, for the runs under way
        self._drain: asyncio.Task | None = None

    @classmethod
    async def start(
        cls, preset: Preset, *, dtype: str = "auto", progress: Callable[[str], None] | None = None
    ) -> "Session":
        """Load verifier and drafters and start the engine process.

        Args:
            preset: which models, on which device.
            dtype: auto, bfloat16 or float32; auto is bfloat16 where the hardware multiplies it natively.
            progress: called with a short line at each stage.

        Raises:
            EngineError: with what went wrong and what to do, in one sentence.
        """
        say = progress or (lambda line: None)
        try:
            setup = await asyncio.to_thread(launch.prepare, preset, dtype, say)
            say("starting the engine")
            # In a thread, since a page may be served by this loop; the engine's own tasks start with the first request.
            engine = await asyncio.to_thread(AsyncLLM.from_engine_args, setup.args)
        except (launch.LaunchError, VerifierError) as error:
            raise EngineError(str(error)) from error
        except Exception as error:
            raise EngineError(launch.explain(error)) from error
        session = cls(preset, engine, setup)
        say("ready")
        return session

    async def generate(self, request: Request) -> AsyncIterator[Event]:
        """Decode one prompt, yielding what is new whenever there is something new.

        Closing the generator aborts the request, which frees its place within a cycle. The run's `finish_reason` is
        set with the last event, or to "abort".

        Raises:
            ValueError: a request that cannot be served, in one sentence.
            EngineError: the engine died.
        """
        run = self._new_run(request)
        request, method = run.request, METHODS[request.method]
        walk, head = parse(request.walk), bool(method.head)
        rule = Rule(request.method, method.drafter, head, walk, request.slots, request.record)
        params = SamplingParams(
            temperature=request.temperature,
            seed=request.seed if request.temperature > 0 else None,
            max_tokens=request.max_tokens,
            stop=request.stop,
            output_kind=RequestOutputKind.DELTA,
            extra_args={"dcoco_viz": rule.pack()},
        )
        prompt = {"prompt_token_ids": run.prompt_ids, "cache_salt": method.drafter or "none"}
        stream = self._engine.generate(prompt, params, run.id)
        held = self._arrived[run.id] = []
        first = time.perf_counter()
        try:
            async for output in stream:
                completion = output.outputs[0]
                run.token_ids += completion.token_ids
                self._name(run, completion.token_ids, [])  # before anything can break off: a run must be readable
                run.seconds = output.metrics.last_token_ts - output.metrics.first_token_ts
                if output.finished:
                    run.finish_reason = completion.finish_reason
                    self._finish(run, completion)
                if not run.ttft_s:
                    run.ttft_s = time.perf_counter() - first
                if request.record != "off" and len(run.token_ids) > 1:
                    await self._fetch(fresh=output.finished)
                cycles = self._clip(run, held)
                self._name(run, (), cycles)
                yield Event(completion.text, cycles, run)
        except EngineDeadError as error:
            run.finish_reason = "error"
            raise EngineError(DEAD) from error
        except (asyncio.CancelledError, GeneratorExit):
            run.finish_reason = run.finish_reason or "abort"
            raise
        finally:
            with contextlib.suppress(EngineDeadError):
                await stream.aclose()
            del self._arrived[run.id]

    @property
    def alive(self) -> bool:
        """Whether the engine's process is there."""
        return not self._engine.errored

    async def close(self) -> None:
        """Stop the engine process; requests under way end with an error."""
        if self._drain is not None:
            self._drain.cancel()
        engine = self.__dict__.pop("_engine")  # its finaliser must run while the interpreter still stands
        logger = logging.getLogger("vllm.v1.engine.async_llm")
        logger.disabled = True  # it calls the process that is told to end a dead one
        try:
            await asyncio.to_thread(engine.shutdown, 20)
            await asyncio.sleep(0)  # its reader of results says so now
        finally:
            logger.disabled = False

    def _new_run(self, request: Request) -> Run:
        if request.method not in self.methods:
            raise ValueError(f"unknown method {request.method!r}: this engine offers {', '.join(self.methods)}")
        walk, method = parse(request.walk), METHODS[request.method]
        request = request.model_copy(update={"walk": walk.name})
        if request.record == "dense" and method.drafter is None:
            raise ValueError(f"a dense record needs a method that drafts: {request.method} does not")
        walks.check(method, walk)
        ids = read(request, self._tokenizer, len(self._pieces), self.preset.chat_template_kwargs)
        if len(ids) + request.max_tokens > self.limit:
            raise ValueError(
                f"the prompt has {len(ids)} tokens and asks for {request.max_tokens} more, but this preset has room "
                f"for {self.limit}: shorten the prompt or lower the maximum"
            )
        run = Run(uuid.uuid4().hex, request, ids, created=datetime.now(UTC).isoformat(timespec="seconds"))
        run.meta = self.meta | {"special_ids": self._special}
        return run

    async def _fetch(self, *, fresh: bool) -> None:
        """Bring finished cycles over from the engine process and sort them by run.

        Runs share a fetch under way; `fresh` asks for one that begins after this call, so that nothing is missed.
        """
        if self._drain is not None and not self._drain.done():
            await asyncio.shield(self._drain)
            if not fresh:
                return
        if self._drain is None or self._drain.done():
            self._drain = asyncio.create_task(self._fetch_once())
        await asyncio.shield(self._drain)

    async def _fetch_once(self) -> None:
        asking = asyncio.ensure_future(self._engine.collective_rpc("drain"))
        while not (await asyncio.wait({asking}, timeout=1))[0]:
            if self._engine.errored:  # a call to a process that died under it is never answered
                asking.cancel()
                raise EngineDeadError()
        for packed in asking.result():
            for record in unpack(packed):
                run_id, _, _ = record["request_id"].rpartition("-")  # vLLM appended a suffix of its own
                if run_id in self._arrived:  # an aborted run's last cycle comes too late for anybody
                    self._arrived[run_id].append(record)

    def _clip(self, run: Run, held: list[dict[str, Any]]) -> list[Cycle]:
        """Turn records whose tokens have arrived into cycles of the run; leave the others in `held`."""
        cycles = []
        while held:
            record = held[0]
            start = record["anchor_position"] + 1 - len(run.prompt_ids)
            raw = record["committed"]
            kept = run.token_ids[start : start + len(raw)]
            if len(kept) < len(raw) and run.finish_reason is None:
                break
            held.pop(0)
            if kept:
                cycles.append(_cycle(run, len(run.cycles), record, kept))
                run.cycles.append(cycles[-1])
        return cycles

    def _name(self, run: Run, token_ids, cycles: list[Cycle]) -> None:
        """Give the run the pieces of every token id that it mentions."""
        mentioned = set(token_ids) | set(run.prompt_ids if not run.pieces else ())
        for cycle in cycles:
            for ids in (cycle.drafted, cycle.candidates, cycle.verifier):
                if ids is not None:
                    mentioned.update(ids.flatten().tolist())
        run.pieces.update((i, self._pieces[i]) for i in mentioned if i not in run.pieces)

    def _finish(self, run: Run, completion) -> None:
        if isinstance(completion.stop_reason, str):  # drop the tokens after the one that completed the stop string
            for n in range(1, len(run.token_ids) + 1):
                if completion.stop_reason in join(self._pieces[t] for t in run.token_ids[:n]):
                    del run.token_ids[n:]
                    break
        if completion.spec_decode_metrics is not None:
            run.meta["vllm_accepted"] = list(completion.spec_decode_metrics.per_step_accepted)
            run.meta["vllm_drafted"] = list(completion.spec_decode_metrics.per_step_drafted)


def _cycle(run: Run, index: int, record: dict[str, Any], kept: list[int]) -> Cycle:
    fields = dict(record)
    raw = fields.pop("committed")
    fields["request_id"] = run.id
    fields["drafted"] = np.asarray(fields["drafted"], np.int32)
    return Cycle(
        index=index,
        accepted=len(raw) - 1,
        committed=np.asarray(kept, np.int32),
        clipped=len(kept) < len(raw),
        **fields,
    )
