"""One real engine in float32 for the whole folder; tests that need another start their own."""

import pytest

from dcoco_viz import presets
from dcoco_viz.engine.session import Session
from dcoco_viz.trace.schema import Request, Run

LIMIT = 384  # tokens of prompt and output; short, so that the edge is cheap to reach

PROMPTS = (
    "Write a Python function that returns the n-th Fibonacci number.",
    "A train travels 60 miles in 1.5 hours. What is its average speed?",
    "What is the capital of France, and what is it known for?",
    "List three benefits of regular exercise.",
    "Écris une phrase sur la mer.",
    "Explain recursion to a child.",
    "Write a haiku about autumn.",
    "If all cats are animals and Tom is a cat, what is Tom?",
)


@pytest.fixture(scope="package")
def preset():
    return presets.load().model_copy(update={"max_model_len": LIMIT, "max_num_seqs": 8, "kv_cache_gib": 0.25})


@pytest.fixture(scope="package")
async def session(preset):
    started = await Session.start(preset, dtype="float32")
    yield started
    await started.close()


async def run(session: Session, prompt: str, method: str, **options) -> Run:
    """Decode to the end."""
    events = [event async for event in session.generate(Request(prompt=prompt, method=method, **options))]
    return events[-1].run
