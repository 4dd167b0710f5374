"""Compare: the same question decoded in several ways, beside each other; or runs that are there already."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import gradio as gr

from dcoco_viz.components.banner import say
from dcoco_viz.components.compared import Entry
from dcoco_viz.components.diff import Diff, diff
from dcoco_viz.components.nav import place
from dcoco_viz.components.progress import Progress, progress
from dcoco_viz.components.race import Race, race
from dcoco_viz.components.rescues import Rescues, rescues
from dcoco_viz.components.table import Table, table
from dcoco_viz.components.verdict import Verdict, verdict
from dcoco_viz.metrics.compare import differing
from dcoco_viz.tabs import ask, compare_setup
from dcoco_viz.tabs.compare_round import Round
from dcoco_viz.tabs.compare_setup import MOST_REPEATS
from dcoco_viz.tabs.house import MOST, House
from dcoco_viz.tabs.job import Job, queue_note
from dcoco_viz.tabs.visitor import visitor
from dcoco_viz.trace.schema import Run
from dcoco_viz.trace.store import Store

REMEMBERED = 100  # comparisons
PACE = 0.1  # seconds between two updates of one page at least
HINT_LIVE = (
    "Type a prompt above, choose two to four ways to decode it, and press Compare. They run one after another, so that "
    "none disturbs another's times, and are replayed here together."
)
HINT_REPLAY = "Nothing to compare yet: choose two to four runs in Runs, and press Compare there."


class CompareTab:
    """The tab and its events."""

    def __init__(self, house: House):
        self._house = house
        self._live = house.engine.preset is not None
        self._known: deque[list[list[str]]] = deque(maxlen=REMEMBERED)  # ids of the runs of every entry, by comparison
        self.setup = compare_setup.build(live=self._live)
        self._progress = Progress()
        self._verdict = Verdict(verdict([], self._hint))
        self._race, self._table, self._diff, self._rescues = Race(), Table(), Diff(), Rescues()
        self.outputs = [self._verdict, self._race, self._table, self._diff, self._rescues]

    @property
    def _hint(self) -> str:
        return HINT_LIVE if self._live else HINT_REPLAY

    def wire(self, demo: gr.Blocks) -> None:
        house, setup = self._house, self.setup
        if not self._live:
            return
        compare_setup.wire(setup)
        setup.start.click(
            self._compare,
            [setup.count, setup.repeat, setup.baseline, *setup.inputs, *house.deck.inputs],
            [
                *self.outputs,
                self._progress,
                setup.start,
                setup.stop,
                house.notice,
                house.status,
                house.current,
                house.nav,
            ],
            concurrency_limit=None,  # jobs wait for their turn: the engine is idle but for this
            show_progress="hidden",
            api_visibility="private",
        )
        setup.stop.click(self._stop, queue=False, api_visibility="private")

    def show(self, runs: list[Run], owner: str) -> dict[Any, Any]:
        """Compare these runs; where they are a comparison made here, with all its repeats."""
        entries = self._remembered(runs)
        if entries is None:
            entries = [Entry([run]) for run in runs if run.token_ids]
            self._remember(entries)  # so that a way through Explore and back keeps the order
        return self._values(entries)

    def _values(self, entries: list[Entry]) -> dict[Any, Any]:
        alike = len(entries) > 1 and "prompt" not in differing([entry.run for entry in entries])
        return {
            self._verdict: verdict(entries, self._hint),
            self._race: race(entries) if alike else None,
            self._table: table(entries) if entries else None,
            self._diff: diff(entries) if alike else None,
            self._rescues: rescues(entries) if entries else None,
        }

    def _remembered(self, runs: list[Run]) -> list[Entry] | None:
        wanted = {run.id for run in runs}
        for known in reversed(list(self._known)):
            entries = [Entry(found) for ids in known if (found := self._house.store.some(ids))]
            shown = {entry.run.id for entry in entries}
            if wanted and wanted <= shown and len(wanted) == min(MOST, len(shown)):
                return entries
        return None

    @property
    def awaiting(self) -> list[gr.components.Component]:
        """What `ready` changes."""
        return [self.setup.start, *self.setup.methods]

    def ready(self) -> dict[Any, Any]:
        """Updates that say how far the engine has come."""
        engine, setup = self._house.engine, self.setup
        ready, methods = engine.session is not None, compare_setup.choices(engine.methods)
        return {
            setup.start: gr.Button("Compare", interactive=ready) if engine.settled else gr.skip(),
            **{part: gr.Dropdown(methods) if ready else gr.skip() for part in setup.methods},
        }

    def _stop(self, page: gr.Request) -> None:
        self._house.jobs.stop(page.session_hash)

    async def _compare(self, page: gr.Request, count, repeat, baseline, *values):  # where Gradio looks for it
        house, setup, rows = self._house, self.setup, len(self.setup.inputs)
        try:
            if house.engine.session is None:
                raise ValueError(house.engine.failure or "The engine is not ready yet: try again when it is.")
            house.jobs.room(page.session_hash, house.engine)
            if repeat not in range(1, MOST_REPEATS + 1):
                raise ValueError(f"Repeat must be a number from 1 to {MOST_REPEATS}.")
            ways = compare_setup.ways(compare_setup.rows_of(count, values[:rows]), baseline=baseline)
            turns = Round(dict(zip(ask.FIELDS, values[rows:], strict=True)), ways, int(repeat))
        except ValueError as error:
            yield {house.notice: say("error", str(error))}
            return
        # With every update, since a browser that gets two at once applies the second alone.
        busy = {setup.start: gr.Button(interactive=False), setup.stop: gr.Button(interactive=True)}
        yield {**self._values([]), house.notice: None, **busy}
        warm = self._begin(turns.warming, Store(), page)  # a store of its own: these are not kept
        async for update in self._follow(
            warm, lambda i: f"Warming up {i + 1} of {len(turns.warming)}: {turns.name(i)}"
        ):
            yield {**busy, **update}
        job, total = warm, len(turns.requests)
        if _complete(warm):
            job = self._begin(turns.requests, house.store, page)
            async for update in self._follow(job, lambda i: f"Run {i + 1} of {total}: {turns.name(i)}", turns):
                yield {**busy, **update}
        if job.dead:
            house.engine.lost(job.error)
        entries = [] if job is warm else turns.entries(job.runs)
        done = sum(run.finish_reason in ("stop", "length") for run in job.runs) if job is not warm else 0
        ids = self._remember(entries)
        yield {
            **self._values(entries),
            self._progress: None
            if done == total
            else progress(f"Stopped: {done} of {total} runs are whole.", done, total),
            house.notice: say("error", job.error) if job.error else None,
            setup.start: gr.Button(interactive=not job.dead),
            setup.stop: gr.Button(interactive=False),
            house.status: house.engine.status(),
            house.current: ids or gr.skip(),
            house.nav: place("", ids[0], None, ids) if ids else gr.skip(),
        }

    def _begin(self, requests, store: Store, page: gr.Request) -> Job:
        job = Job(self._house.engine, requests, store, visitor(page))
        return self._house.jobs.start(page.session_hash, job)

    async def _follow(self, job: Job, words, turns: Round | None = None) -> AsyncIterator[dict[Any, Any]]:
        """How far the job has come, and whenever a run is over, the numbers of those that are."""
        over, total, known = 0, len(job.requests), None
        try:
            yield {self._progress: progress(queue_note(job) or words(0), 0, total)}
            async for _ in job.updates():
                at = max(0, len(job.runs) - 1)
                tokens = len(job.runs[at].token_ids) if job.runs else 0
                update = {self._progress: progress(f"{words(at)}, {tokens} tokens", at, total)}
                if turns and at > over:
                    over, entries = at, turns.entries(job.runs[:at])
                    ids, known = self._remember(entries, known), _ids(entries)
                    update |= {self._table: table(entries), self._house.current: ids}
                yield update
                await asyncio.sleep(PACE)
        finally:
            job.stop()

    def _remember(self, entries: list[Entry], instead: list[list[str]] | None = None) -> list[str]:
        """Ids of the runs that the page is about; the comparison takes the place of what it was a moment ago."""
        if instead in self._known:
            self._known.remove(instead)
        if entries:
            self._known.append(_ids(entries))
        return [entry.run.id for entry in entries][:MOST]


def _ids(entries: list[Entry]) -> list[list[str]]:
    return [[run.id for run in entry.runs] for entry in entries]


def _complete(job: Job) -> bool:
    """Whether all was decoded to its end."""
    ends = [run.finish_reason for run in job.runs]
    return len(ends) == len(job.requests) and set(ends) <= {"stop", "length"}
