"""Every walk of dcoco_viz.lattice.walk as a choice per request, in one batch."""

import asyncio

import numpy as np
import pytest
import torch

from dcoco_viz.lattice.walk import choose, lengths, parse
from dcoco_viz.trace.check import check
from tests.engine.conftest import PROMPTS, run

WALKS = ("greedy", "global-sum", "geometric:0.75", "beam:4", "greedy+cut:0.3", "beam:2+top:4+k:8")
TOKENS = 32


@pytest.fixture(scope="module")
async def batches(session):
    """For each of three prompts: plain decoding, DCOCO by every walk, and DFlash with a cut, all in one batch."""
    ways = [("none", "greedy"), *(("dcoco", walk) for walk in WALKS), ("dflash", "beam:4+cut:0.3")]
    return [
        await asyncio.gather(*(run(session, prompt, method, walk=walk, max_tokens=TOKENS) for method, walk in ways))
        for prompt in PROMPTS[:3]
    ]


async def test_no_walk_changes_the_text(batches):
    for plain, *others in batches:
        check([plain, *others])
        for done in others:
            assert done.token_ids == plain.token_ids, (done.request.walk, done.request.prompt)
            assert {cycle.walk for cycle in done.cycles} == {done.request.walk}


@pytest.mark.parametrize("name", WALKS)
async def test_a_recorded_path_is_the_walks_own(batches, name):
    """Scores are recorded in half precision, so a path may differ from that of the recorded scores where they tie.

    It must be the walk's path for some scores within their rounding: those of its own steps as high as they may have
    been, all others as low, or (since a beam may then keep another second path) anywhere between.
    """
    walk, same, cycles = parse(name), 0, 0
    generator = torch.Generator().manual_seed(0)
    for done in (done for batch in batches for done in batch):
        for cycle in done.cycles if (done.request.method, done.request.walk) == ("dcoco", name) else ():
            logits, scores = torch.tensor(cycle.logits), torch.tensor(cycle.scores.astype(np.float64))
            ranks = torch.tensor(cycle.ranks, dtype=torch.int64)
            rounding = torch.tensor(np.spacing(np.abs(cycle.scores)).astype(np.float64) / 2)
            shares = torch.rand(64, *scores.shape, generator=generator, dtype=torch.float64) * 2 - 1
            shares[0] = -1
            shares[:, torch.arange(len(scores)), ranks[:-1], ranks[1:]] = 1
            paths = choose(walk, logits.expand(64, -1, -1), scores + rounding * shares)
            assert (paths == ranks).all(-1).any()
            same += torch.equal(choose(walk, logits, scores), ranks)
            cycles += 1
    assert same > 0.6 * cycles > 9, (same, cycles)


async def test_walks_part(batches):
    """The paths above would all be greedy ones if the engine did not listen."""
    for name in ("global-sum", "geometric:0.75", "beam:4", "beam:2+top:4+k:8"):
        cycles = [c for batch in batches for done in batch if done.request.walk == name for c in done.cycles]
        greedy = [choose(parse("greedy"), torch.tensor(c.logits), torch.tensor(c.scores).float()) for c in cycles]
        assert any(path.tolist() != c.ranks.tolist() for path, c in zip(greedy, cycles, strict=True)), name
    assert all((c.ranks < 8).all() for batch in batches for c in batch[6].cycles)


async def test_a_cut_block_ends_where_its_probability_does(batches):
    for name in ("greedy+cut:0.3", "beam:4+cut:0.3"):
        cycles = [c for batch in batches for done in batch if done.request.walk == name for c in done.cycles]
        for cycle in cycles:
            chosen = cycle.logits[np.arange(15), cycle.ranks] - cycle.lognorm
            assert cycle.submitted == len(cycle.drafted) == int(lengths(parse(name), torch.tensor(chosen)))
            assert cycle.ranks.shape == (15,) and len(cycle.verifier) == cycle.submitted + 1
        assert 1 <= min(cycle.submitted for cycle in cycles) < max(cycle.submitted for cycle in cycles)


async def test_slots_bound_a_cut_block(session):
    done = await run(session, PROMPTS[0], "dcoco", walk="greedy+cut:0.01", slots=3, max_tokens=TOKENS, record="light")
    assert {cycle.submitted for cycle in done.cycles} <= {1, 2, 3} and max(c.submitted for c in done.cycles) == 3
    assert [c.submitted for c in done.cycles] == done.meta["vllm_drafted"]


async def test_a_walk_has_one_name_in_request_and_record(session):
    done = await run(session, PROMPTS[0], "dcoco", walk="beam:2+k:8+top:4", max_tokens=8)
    assert done.request.walk == done.cycles[0].walk == "beam:2+top:4+k:8"
