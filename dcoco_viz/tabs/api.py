"""What programs may ask of a running app: four functions, as JSON endpoints (gr.api) and as MCP tools.

Gradio's own MCP server needs version 1 of the `mcp` package, vLLM needs version 2: so the tools are offered by
version 2's own server, under /mcp.
"""

import asyncio
import functools
import inspect
from collections.abc import Callable
from typing import Any

import gradio as gr
from fastapi import FastAPI
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError, validate_call

from dcoco_viz.methods import METHODS
from dcoco_viz.metrics.compare import figures, parting, typical
from dcoco_viz.metrics.coverage import coverage
from dcoco_viz.metrics.summary import summary
from dcoco_viz.tabs import ask
from dcoco_viz.tabs.compare_round import Round
from dcoco_viz.tabs.house import MOST, House
from dcoco_viz.tabs.job import Job, sentence
from dcoco_viz.trace.schema import Request, Run
from dcoco_viz.trace.store import Store

MOST_WAITING = 8  # calls; a client that went away still waits for its turn
LONGEST_BLOCK = 15  # slots
OWNER = "api"  # of runs that programs asked for: found by their ids, in nobody's list
LISTS = {  # what stands in braces in the docstrings below, which are what programs read
    "methods": ", ".join(METHODS),
    "serial": " and ".join(name for name, method in METHODS.items() if method.serial),
}


class Api:
    """The functions. Each raises ValueError with one plain sentence for what it cannot do."""

    def __init__(self, house: House):
        self._house = house
        self._waiting = 0  # calls that decode or wait for their turn

    @property
    def functions(self) -> list[Callable]:
        return [self.generate, self.compare, self.coverage, self.replay_walk]

    def wire(self) -> None:
        """Offer them as /generate, /compare, /coverage and /replay_walk, inside the page's Blocks context."""
        error = functools.partial(gr.Error, print_exception=False)
        for function in self.functions:
            gr.api(_raising(error, function), api_name=function.__name__, concurrency_limit=None)

    def mount(self, app: FastAPI) -> MCPServer:
        """Offer them as tools under /mcp; the server's `session_manager.run()` must last as long as the app."""
        server = MCPServer("dcoco-viz", instructions="Live speculative decoding, recorded cycle by cycle.")
        for function in self.functions:
            server.add_tool(_raising(ToolError, function))
        app.mount("/mcp", server.streamable_http_app(streamable_http_path="/", stateless_http=True, json_response=True))
        return server

    async def generate(
        self,
        prompt: str,
        method: str = "dcoco",
        walk: str = "greedy",
        slots: int = 15,
        max_tokens: int = 128,
        temperature: float = 0.0,
        seed: int = 0,
        system: str = "",
        raw: bool = False,
    ) -> dict[str, Any]:
        """Decode one prompt on the app's engine and record every cycle.

        Args:
            prompt: the user's message; with `raw`, the text to be completed.
            method: {methods}.
            walk: rule that picks a path through the candidates: greedy, global-sum, geometric:L, beam:W; of {serial}
                greedy alone. With +auto behind it a block ends where one more slot costs more time than it gains.
            slots: drafted slots submitted to the verifier in each cycle, 1 to 15.
            max_tokens: longest output, in tokens.
            temperature: 0 is greedy.
            seed: for a temperature above 0.
            system: system prompt.
            raw: complete the prompt as it stands, without the chat template.

        Returns:
            The run's id, a link that shows it, its text and token ids, and its figures: tau (committed tokens per
            cycle, pooled), tokens per second, median milliseconds, mean accepted lengths of three paths.
        """
        asked = {"prompt": prompt, "temperature": temperature, "max_tokens": max_tokens, "seed": seed}
        asked |= {"system": system, "raw": raw}
        requests = ask.requests(asked, [{"method": method, "walk": walk, "slots": slots}])
        [run] = await self._decode(requests, self._house.store)
        return _told_of(run)

    async def compare(
        self,
        prompt: str,
        ways: list[dict[str, Any]] | None = None,
        repeat: int = 1,
        max_tokens: int = 128,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> dict[str, Any]:
        """Decode one prompt in several ways, one after the other on an idle engine, interleaved when repeated.

        Args:
            prompt: the user's message.
            ways: two to four of {"method", "walk", "slots"}, as in generate; by default DCOCO and DFlash. Plain
                decoding, the baseline of the speed-up, is added where it is not among them.
            repeat: how often each way decodes, 1 to 10.
            max_tokens: longest output, in tokens.
            temperature: 0 is greedy.
            seed: for a temperature above 0.

        Returns:
            For every way its runs and its figures, each as median, smallest and largest over the repeats, the speed-up
            over plain decoding among them; whether all texts are the same, token by token; and a link that shows the
            comparison.
        """
        ways = ways or [{"method": "dcoco"}, {"method": "dflash"}]
        if not 2 <= len(ways) <= MOST or not 1 <= repeat <= 10:
            raise ValueError(f"Compare two to {MOST} ways, 1 to 10 times each.")
        if any(not isinstance(way, dict) or set(way) - {"method", "walk", "slots"} for way in ways):
            raise ValueError('A way is an object with "method", and if wanted "walk" and "slots".')
        asked = {"prompt": prompt, "temperature": temperature, "max_tokens": max_tokens, "seed": seed}
        every = ways if any(way.get("method") == "none" for way in ways) else [*ways, {"method": "none"}]
        turns = Round(asked, every, repeat)
        await self._decode(turns.warming, Store())  # a store of its own: these are not kept
        rows = [entry.runs for entry in turns.entries(await self._decode(turns.requests, self._house.store))]
        plain = next(row for row in rows if row[0].request.method == "none")
        return {
            "ways": [_row(row, plain) for row in rows],
            "identical": parting([run for row in rows for run in row]) is None,
            "link": "/?view=compare&run=" + ",".join(typical(row).id for row in rows[:MOST]),
        }

    async def coverage(self, runs: list[str]) -> dict[str, Any]:
        """coverage@k by slot over recorded runs: the share of drafted slots whose k best candidates hold the truth.

        Args:
            runs: ids, as `generate` and `compare` return them and as links name them.

        Returns:
            "coverage": for k = 1, 2, 4, 8, 16 a list with one share a slot, null where nothing was drafted;
            "counts": on how many drafted slots each stands.
        """
        if not runs:
            raise ValueError("Name at least one run.")
        found = await asyncio.to_thread(coverage, [self._run(run) for run in runs])
        shares = {str(k): [None if x != x else float(x) for x in row] for k, row in found.share.items()}
        return {"coverage": shares, "counts": found.counts.tolist()}

    async def replay_walk(self, run: str, walk: str = "greedy", slots: int = 15) -> dict[str, Any]:
        """Score a walk on the recorded cycles of a run, without decoding anything.

        Args:
            run: its id.
            walk: greedy, global-sum, geometric:L, beam:W; each may be followed by +top:M, +cut:P, +k:N. On a run of
                {serial} greedy and greedy+cut:P alone.
            slots: at most so many of the block's slots are submitted.

        Returns:
            In every cycle that holds candidates the slots that the walk submits and how many of them are accepted, and
            the mean over these recorded anchors, beside the same of the run's own walk. Exact at temperature 0; the
            run-level tau of another walk is more than this (it needs a dense trace), and is not given.
        """
        found = self._run(run)
        if not 1 <= slots <= LONGEST_BLOCK:
            raise ValueError(f"slots must be a number from 1 to {LONGEST_BLOCK}.")
        from dcoco_viz.lab.replay import replay  # torch takes seconds to load

        other, own = await asyncio.to_thread(replay, found, [walk, found.request.walk], slots=slots)
        rows = {"cycles": other.cycles, "submitted": other.submitted, "accepted": other.accepted, "own": own.accepted}
        return {
            "run": found.id,
            "walk": other.walk,
            "own_walk": own.walk,
            "mean_accepted": other.mean,
            "own_mean_accepted": own.mean,
            **{name: row.tolist() for name, row in rows.items()},
        }

    async def _decode(self, requests: list[Request], store: Store) -> list[Run]:
        engine = self._house.engine
        if engine.session is None:
            raise ValueError(engine.failure or "There is no engine behind this app, or it is not ready yet.")
        if self._waiting >= MOST_WAITING:
            raise ValueError("The server is busy with other programs' requests: try again later.")
        self._waiting += 1
        job = Job(engine, requests, store, OWNER)
        try:
            async for _ in job.updates():
                pass
        finally:
            job.stop()
            self._waiting -= 1
        if job.dead:
            engine.lost(job.error)
        if job.error:
            raise ValueError(job.error)
        return job.runs

    def _run(self, run_id: str) -> Run:
        run = self._house.store.get(run_id)
        if run is None:
            raise ValueError(f"There is no run {run_id!r} on this server.")
        return run


def _raising(kind: Callable[[str], Exception], function: Callable) -> Callable:
    """The function with its plain sentences as errors of this kind, which reach the client."""

    checked, names = validate_call(function), list(inspect.signature(function).parameters)

    @functools.wraps(function)
    async def call(*args, **kwargs):
        try:
            return await checked(*args, **kwargs)
        except ValidationError as error:
            first = error.errors()[0]
            place, *inside = first["loc"]
            name = names[place] if isinstance(place, int) else place
            where = "".join([str(name), *(f"[{part}]" for part in inside)])
            raise kind(f"{where}: {first['msg']}.") from error
        except ValueError as error:
            raise kind(sentence(error)) from error

    for name, listed in LISTS.items():
        call.__doc__ = call.__doc__.replace(f"{{{name}}}", listed)
    return call


def _told_of(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "link": f"/?run={run.id}",
        "text": run.text,
        "token_ids": run.token_ids,
        "finish_reason": run.finish_reason,
        **summary(run)._asdict(),
    }


def _row(runs: list[Run], plain: list[Run]) -> dict[str, Any]:
    """One way in numbers, over its repeats."""
    request = runs[0].request
    found = figures(runs, plain)
    return {
        "method": request.method,
        "walk": request.walk,
        "slots": request.slots,
        "runs": [run.id for run in runs],
        "text": runs[0].text,
        **{name: spread and spread._asdict() for name, spread in found.items()},
    }
