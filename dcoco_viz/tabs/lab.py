"""Path lab: other walks over the cycles of a recorded run."""

from typing import Any

import gradio as gr

from dcoco_viz.components import lab, labpage, parting
from dcoco_viz.components.banner import Banner, say
from dcoco_viz.components.bounded import Bounded
from dcoco_viz.components.chart import Chart
from dcoco_viz.lab.dense import find
from dcoco_viz.methods import METHODS
from dcoco_viz.tabs import labwork
from dcoco_viz.tabs.house import House
from dcoco_viz.tabs.job import sentence
from dcoco_viz.tabs.visitor import visitor
from dcoco_viz.trace.schema import Run

NOTHING = (
    "No recorded run to work on yet. Decode a prompt with a drafting method in Explore, or open a trace there: the lab "
    "replays other walks on its cycles."
)
GRAMMAR = "RULE[+top:M][+cut:P][+k:N]"
USUAL = ("greedy", "global-sum", "geometric:0.75", "beam:4", "greedy+cut:0.3")  # compared with the run's own walk
MOST_WALKS = 16


class LabTab:
    """The tab and its events."""

    def __init__(self, house: House):
        self._house = house
        with gr.Row(elem_id="dv-lab-controls"):
            self._run = gr.Dropdown([], label="Run", scale=5, min_width=260, elem_id="dv-lab-run")
            slider = {"minimum": 1, "step": 1, "scale": 2, "min_width": 170, "buttons": []}
            self._pool = Bounded(maximum=16, value=16, label="Candidates K", **slider)
            self._slots = Bounded(maximum=15, value=15, label="Slots B", **slider)
            self._custom = gr.Textbox(
                label="Add a walk", placeholder=GRAMMAR, max_length=200, scale=3, min_width=250, elem_id="dv-lab-add"
            )
            self._add = gr.Button("Add", scale=0, min_width=70)
        with gr.Row(visible=house.engine.preset is not None, elem_id="dv-lab-work"):
            self._record = gr.Button("Record a dense trace of this run", scale=0, min_width=260)
            self._measure = gr.Button("Measure cycle cost", scale=0, min_width=180)
            self._stop = gr.Button("Stop", scale=0, min_width=80, interactive=False)
            self._progress = Banner(role="status", elem_id="dv-lab-progress")
        with gr.Row(elem_classes=["dv-lab-columns"]):
            with gr.Column(scale=8, min_width=320):
                self._table = lab.Lab(lab.empty(NOTHING), elem_id="dv-lab-table")
                self._chart = Chart(elem_id="dv-lab-chart")
                self._parting = parting.Parting(house.store, elem_id="dv-lab-parting")
            with gr.Column(scale=4, min_width=300):
                self._page = labpage.Labpage(elem_id="dv-lab-page")
        self._walks = gr.State(list(USUAL))
        self._shown = [self._table, self._chart, self._parting]
        self.outputs = [self._run, self._table, self._chart, self._parting, self._page]

    def wire(self, demo: gr.Blocks) -> None:
        quiet = {"show_progress": "hidden", "api_visibility": "private"}
        chosen, notice = [self._run, self._walks, self._pool, self._slots], self._house.notice
        sliders = [self._pool, self._slots]
        self._run.change(
            self._choose,
            chosen[:2],
            [*sliders, *self._shown, self._page],
            show_progress="minimal",
            show_progress_on=[self._table],
            api_visibility="private",
        )
        for slider in sliders:
            slider.input(self._update, chosen, self._shown, trigger_mode="always_last", **quiet)
        gr.on(
            [self._add.click, self._custom.submit],
            self._more,
            [self._custom, *chosen],
            [self._custom, self._walks, *self._shown, notice],
            **quiet,
        )
        self._table.drop(self._less, chosen, [self._walks, *self._shown], **quiet)
        buttons = [self._record, self._measure, self._stop]
        for button, work in ((self._record, self._dense), (self._measure, self._costs)):
            button.click(
                work,
                chosen,
                [*buttons, self._progress, notice, self._house.status],
                concurrency_limit=None,
                show_progress="hidden",
                api_visibility="private",
            ).then(self._update, chosen, self._shown, **quiet)  # for what is chosen by now
        self._stop.click(self._halt, queue=False, api_visibility="private")

    def show(self, runs: list[Run], owner: str) -> dict[Any, Any]:
        """Offer these runs, the owner's others and those that belong to nobody; the choice of one draws the rest."""
        known = {run.id: run for run in (*runs, *self._known(owner)) if _replayable(run)}
        if not known:
            nothing = {part: None for part in (self._chart, self._parting, self._page)}
            return {self._run: gr.Dropdown([], value=None), self._table: lab.empty(NOTHING), **nothing}
        return {self._run: gr.Dropdown([(_title(run), id_) for id_, run in known.items()], value=next(iter(known)))}

    def _choose(self, run_id: str | None, walks: list[str], page: gr.Request):
        run = self._house.store.get(run_id or "")
        if run is None:
            nothing = {part: None for part in (self._chart, self._parting, self._page)}
            return {self._table: lab.empty(parting.GONE if run_id else NOTHING), **nothing}
        b, k = _shape(run)
        slots = b if run.request.record == "dense" else min(b, run.request.slots)
        return {
            self._pool: gr.Slider(maximum=k, value=k, interactive=not _labview().serial(run)),
            self._slots: gr.Slider(maximum=b, value=slots),
            **self._update(run_id, walks, k, slots, page),
            self._page: _labview().page(run),
        }

    def _update(self, run_id: str, walks: list[str], pool: int, slots: int, page: gr.Request):
        """The table, the chart and the partings of a run under these settings."""
        run = self._house.store.get(run_id or "")
        if run is None:
            return {self._table: lab.empty(parting.GONE if run_id else NOTHING), self._chart: None, self._parting: None}
        drawn = _labview().view(run, walks, pool, slots, self._known(visitor(page)))
        return dict(zip(self._shown, drawn, strict=True))

    def _more(self, name: str, run_id: str, walks: list[str], pool: int, slots: int, page: gr.Request):
        from dcoco_viz.lattice.walk import check  # torch

        run = self._house.store.get(run_id or "")
        try:
            walk = check((name or "").strip())
            if run is not None:
                _labview().admit(run, walk)
            if len(walks) >= MOST_WALKS:
                raise ValueError(f"The table holds {MOST_WALKS} walks at most: take one out first.")
        except ValueError as error:
            return {self._house.notice: say("error", sentence(error))}
        walks = list(dict.fromkeys([*walks, walk]))
        shown = self._update(run_id, walks, pool, slots, page) if run_id else {}
        return {self._custom: "", self._walks: walks, self._house.notice: None, **shown}

    def _less(self, run_id: str, walks: list[str], pool: int, slots: int, event: gr.EventData, page: gr.Request):
        walks = [walk for walk in walks if walk != event._data["walk"]]
        return {self._walks: walks, **self._update(run_id, walks, pool, slots, page)}

    async def _dense(self, run_id: str, walks: list[str], pool: int, slots: int, page: gr.Request):
        async for updates in self._work(labwork.dense_requests, labwork.dense_result, run_id, walks, pool, slots, page):
            yield updates

    async def _costs(self, run_id: str, walks: list[str], pool: int, slots: int, page: gr.Request):
        async for updates in self._work(labwork.cost_requests, labwork.cost_result, run_id, walks, pool, slots, page):
            yield updates

    async def _work(self, ask, conclude, run_id: str, walks: list[str], pool: int, slots: int, page: gr.Request):
        """Decode what `ask` asks for, telling how far it has come; `conclude` says what came of it."""
        house, run = self._house, self._house.store.get(run_id or "")
        try:
            if run is None:
                raise ValueError("Choose a run first.")
            if ask is labwork.dense_requests and find(run, self._known(visitor(page))) is not None:
                raise ValueError("This run has a dense trace already.")
            house.jobs.room(page.session_hash, house.engine)
            requests = ask(run, house.engine)
        except ValueError as error:
            yield {house.notice: say("error", sentence(error))}
            return
        yield {house.notice: None, **self._busy(True)}
        job = labwork.start(house, requests, page.session_hash, visitor(page))
        try:
            async for line, detail in labwork.progress(job):
                yield {self._progress: say("busy", line, detail), **self._busy(True)}
        finally:
            job.stop()
        if job.dead:
            house.engine.lost(job.error)
        yield {
            **self._busy(False),
            self._progress: None,
            house.notice: conclude(run, job),
            house.status: house.engine.status(),
        }

    def _halt(self, page: gr.Request) -> None:
        self._house.jobs.stop(page.session_hash)

    def _busy(self, busy: bool) -> dict[Any, Any]:
        parts = {button: gr.Button(interactive=not busy) for button in (self._record, self._measure)}
        return parts | {self._stop: gr.Button(interactive=busy)}

    def _known(self, owner: str) -> list[Run]:
        """Runs that may hold a dense trace or cycle costs: the owner's, and those that belong to nobody."""
        return [*self._house.store.of(owner), *(self._house.store.of("") if owner else ())]


def _labview():
    """The part of the tab that computes, and so loads torch, which takes seconds: not before it is needed."""
    from dcoco_viz.tabs import labview

    return labview


def _replayable(run: Run) -> bool:
    """Whether the run recorded candidates."""
    return any(cycle.candidates is not None for cycle in run.cycles)


def _shape(run: Run) -> tuple[int, int]:
    """The largest (B, K) among the run's blocks."""
    shapes = [cycle.candidates.shape for cycle in run.cycles if cycle.candidates is not None]
    return max(b for b, _ in shapes), max(k for _, k in shapes)


def _title(run: Run) -> str:
    """How a run is named in a list."""
    request = run.request
    label = METHODS[request.method].label if request.method in METHODS else request.method
    what = run.name or " ".join(request.prompt.split())
    what = f"{what[:57]}…" if len(what) > 58 else what
    dense = ", dense trace" if request.record == "dense" else ""
    return f"{label}, {request.walk}{dense}: {what} ({len(run.token_ids)} tokens)"
