"""As many slots as the moment is worth: another number of slots, and a drafter that rests, never change the text."""

import asyncio

import numpy as np
import pytest

from dcoco_viz.methods import METHODS
from tests.engine.conftest import PROMPTS, run

TOKENS = 48
HOPELESS = "зьх ђцє жґў щѕї њљџ "  # no words of any language, so that hardly a draft is accepted


async def test_the_text_is_that_of_plain_decoding_for_every_method(session):
    methods = [name for name in session.methods if METHODS[name].drafter]
    for prompt in PROMPTS[:2]:
        plain = await run(session, prompt, "none", max_tokens=TOKENS)
        found = await asyncio.gather(
            *(run(session, prompt, method, walk="greedy+auto", max_tokens=TOKENS) for method in methods)
        )
        for auto in found:
            assert auto.token_ids == plain.token_ids, auto.request.method
            assert all(0 <= cycle.submitted <= 15 for cycle in auto.cycles)
            assert sum(len(cycle.committed) for cycle in auto.cycles) == len(plain.token_ids) - 1


@pytest.mark.parametrize("method", ["dflash", "dcoco"])
async def test_a_drafter_that_rested_drafts_as_if_it_had_not(session, method):
    ways = {"raw": True, "max_tokens": 100}
    whole = await run(session, HOPELESS, method, **ways)
    auto = await run(session, HOPELESS, method, walk="greedy+auto", slots=1, **ways)
    assert auto.token_ids == whole.token_ids
    drafted = {cycle.anchor_position: cycle for cycle in auto.cycles if cycle.candidates is not None}
    rested = [cycle.anchor_position for cycle in auto.cycles if cycle.candidates is None]
    assert rested, "the drafter never rested"
    both = [(drafted[c.anchor_position], c) for c in whole.cycles if c.anchor_position in drafted]
    assert any(one.anchor_position > rested[0] for one, _ in both)
    for one, other in both:
        np.testing.assert_allclose(one.logits, other.logits, atol=2e-3)
        np.testing.assert_allclose(one.lognorm, other.lognorm, atol=2e-3)


async def test_slots_and_cut_still_bound_the_block(session):
    done = await run(session, PROMPTS[0], "dcoco", walk="greedy+cut:0.01+auto", slots=3, max_tokens=TOKENS)
    assert max(cycle.submitted for cycle in done.cycles) <= 3
    assert done.request.walk == "greedy+cut:0.01+auto"
