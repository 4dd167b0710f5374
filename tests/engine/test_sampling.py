"""T = 1: the distribution of what is generated is the verifier's, whatever is drafted (METHOD: "Lossless")."""

import asyncio
from collections import Counter

import pytest
import torch

from dcoco_viz.engine import launch
from dcoco_viz.engine.session import Session
from tests.engine.conftest import run

PROMPT = "The capital of France is Paris. The capital of Italy is Rome. The capital of Spain is"
TOKENS = 4  # the first comes from the prefill, three from speculation
SAMPLES = 480
CELLS = 12


async def continuations(session: Session, method: str, first_seed: int) -> Counter:
    """How often each four-token continuation came, over SAMPLES fixed seeds."""
    gate = asyncio.Semaphore(session.preset.max_num_seqs)

    async def one(seed: int) -> tuple[int, ...]:
        async with gate:
            done = await run(
                session, PROMPT, method, raw=True, temperature=1.0, seed=seed, max_tokens=TOKENS, slots=3, record="off"
            )
            return tuple(done.token_ids)

    return Counter(await asyncio.gather(*(one(first_seed + i) for i in range(SAMPLES))))


def p_value(a: Counter, b: Counter) -> float:
    """Chi-square test that two samples of equal size share a distribution: the top cells and the rest."""
    top = [cell for cell, _ in (a + b).most_common(CELLS)]
    rows = [(a[cell], b[cell]) for cell in top]
    rows.append((a.total() - sum(x for x, _ in rows), b.total() - sum(y for _, y in rows)))
    statistic = sum((x - y) ** 2 / (x + y) for x, y in rows if x + y)
    return torch.special.gammaincc(torch.tensor(CELLS / 2), torch.tensor(statistic / 2)).item()


async def test_sampling_is_lossless(session):
    plain = await continuations(session, "none", 0)
    drafted = await continuations(session, "dcoco", 10_000)
    assert max(plain.values()) > SAMPLES / 20, "no continuation is frequent: this prompt would show nothing"
    assert p_value(plain, drafted) > 0.001


async def test_the_test_above_sees_a_broken_accept_rule(session, preset, monkeypatch):
    """The same comparison on an engine whose acceptance favours what was drafted."""
    plain = await continuations(session, "none", 0)
    prepare = launch.prepare

    def biased(*args):
        setup = prepare(*args)
        setup.args.worker_cls = "tests.engine.biased.BiasedWorker"
        return setup

    monkeypatch.setattr(launch, "prepare", biased)
    broken = await Session.start(preset, dtype="float32")
    try:
        assert p_value(plain, await continuations(broken, "dcoco", 10_000)) < 0.001
    finally:
        await broken.close()


@pytest.mark.parametrize("method", ["none", "dflash", "dcoco"])
async def test_a_seed_repeats_itself(session, method):
    options = {"temperature": 1.0, "seed": 7, "max_tokens": 16}
    first, again = [await run(session, "Tell me a story.", method, **options) for _ in range(2)]
    assert first.token_ids == again.token_ids
