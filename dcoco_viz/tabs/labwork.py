"""What the path lab lets the engine decode: a dense trace of a run, and cycles to take the time of."""

import asyncio
from collections.abc import AsyncIterator

from dcoco_viz.components.banner import say
from dcoco_viz.lab.dense import SAME, parted
from dcoco_viz.tabs.engine import Engine
from dcoco_viz.tabs.house import House
from dcoco_viz.tabs.job import Job, queue_note
from dcoco_viz.trace.schema import Request, Run

PROBES = (1, 3, 7, 11, 15)  # slots at which cycle cost is measured
PROBE_TOKENS = 20
PACE = 0.1  # seconds between two updates of the page at least


def dense_requests(run: Run, engine: Engine) -> list[Request]:
    """The request that records a proposal at every position of the run's text.

    Raises:
        ValueError: why this engine cannot, in one sentence.
    """
    _fits(run, engine)
    if run.request.temperature > 0:
        raise ValueError(
            "A dense trace decodes the same text once more, and only at temperature 0 is the text sure to be the same."
        )
    return [run.request.model_copy(update={"record": "dense", "max_tokens": len(run.token_ids)})]


def cost_requests(run: Run, engine: Engine) -> list[Request]:
    """Short generations of the run's prompt: without a draft, and with each number of slots of PROBES.

    Raises:
        ValueError: why this engine cannot, in one sentence.
    """
    _fits(run, engine)
    from dcoco_viz.lattice.walk import parse  # torch, which a page without an engine does not load

    walk = parse(run.request.walk)._replace(auto=False).name  # the number of slots is what is probed
    short = {"max_tokens": PROBE_TOKENS, "record": "light", "stop": [], "parent": None, "walk": walk}
    plain = run.request.model_copy(update={**short, "method": "none"})
    return [plain, *(run.request.model_copy(update={**short, "slots": slots}) for slots in PROBES)]


def _fits(run: Run, engine: Engine) -> None:
    session = engine.session
    if session is None:
        raise ValueError(engine.failure or "The engine is not ready yet: try again when it is.")
    ours, theirs = ([str(meta.get(key, "unknown")) for key in SAME] for meta in (session.meta, run.meta))
    if ours != theirs:
        raise ValueError(
            f"This run was decoded by {' in '.join(theirs)}, and the engine behind this page is {' in '.join(ours)}: "
            "another verifier writes another text and takes another time."
        )
    if run.request.method not in session.methods:
        raise ValueError(f"The engine behind this page has no {run.request.method}.")


def start(house: House, requests: list[Request], page: str, owner: str) -> Job:
    """Decode them as this page's job."""
    return house.jobs.start(page, Job(house.engine, requests, house.store, owner))


async def progress(job: Job) -> AsyncIterator[tuple[str, str]]:
    """A line and its detail, whenever the job has come further."""
    whole = len(job.requests)
    yield queue_note(job) or "Beginning …", ""
    async for _ in job.updates():
        at = max(0, len(job.runs) - 1)
        request, done = job.requests[at], len(job.runs[at].token_ids) if job.runs else 0
        if request.record == "dense":
            yield "Recording a dense trace …", f"{done} of {request.max_tokens} tokens"
        else:
            line = f"Measuring cycle cost, {at + 1} of {whole}: {_slots(request)} …"
            yield line, f"{done} of {request.max_tokens} tokens"
        await asyncio.sleep(PACE)


def dense_result(run: Run, job: Job) -> dict[str, str] | None:
    """What to say of a dense trace that was recorded; None where it simply belongs to the run."""
    if job.error:
        return say("error", job.error)
    dense = job.runs[0] if job.runs else None  # none: stopped before its first token
    if dense is not None:
        dense.name = f"Dense trace: {' '.join(run.request.prompt.split())[:60]}"
    if dense is None or dense.finish_reason in ("abort", None):
        done = len(dense.token_ids) if dense is not None else 0
        return say("info", f"Stopped after {done} of {len(run.token_ids)} tokens: no dense trace.")
    at = parted(run, dense)
    if at is None:
        return None
    return say(
        "error",
        f"The dense trace wrote another text than this run from token {at + 1} of {len(run.token_ids)} on, so that it "
        "says nothing about this run. Numbers that round differently can do that: float32 does it least.",
    )


def cost_result(run: Run, job: Job) -> dict[str, str] | None:
    """What to say when the measuring is over."""
    for found in job.runs:
        found.name = f"Cycle cost, {_slots(found.request)}"
    if job.error:
        return say("error", job.error)
    done = [found for found in job.runs if found.finish_reason not in ("abort", None)]
    if len(done) < len(job.requests):
        return say("info", f"Stopped after {len(done)} of {len(job.requests)} measurements; those are used.")
    return None


def _slots(request: Request) -> str:
    if request.method == "none":
        return "no draft"
    return "1 slot" if request.slots == 1 else f"{request.slots} slots"
