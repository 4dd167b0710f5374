"""What a request may ask for besides a method: system prompt, turns, begun answers, dense records; and the clock."""

import asyncio

import numpy as np
import pytest

from dcoco_viz.trace.check import check
from dcoco_viz.trace.schema import Request
from tests.engine.conftest import PROMPTS, run

TOKENS = 24


@pytest.mark.parametrize("method", ["none", "dcoco"])
async def test_a_continued_answer_goes_on_as_it_would_have(session, method):
    whole = await run(session, PROMPTS[0], method, max_tokens=TOKENS)
    for n in (1, 7):
        begun = whole.token_ids[:n]
        rest = await run(session, PROMPTS[0], method, max_tokens=TOKENS - n, continued=begun)
        assert rest.prompt_ids == whole.prompt_ids + begun
        assert rest.token_ids == whole.token_ids[n:]
        assert set(rest.prompt_ids) <= rest.pieces.keys()
        check([rest])


async def test_a_branch_follows_the_token_it_was_given(session):
    whole = await run(session, PROMPTS[0], "dcoco", max_tokens=TOKENS)
    cycle = whole.cycles[1]
    other = next(int(token) for token in cycle.candidates[0] if token != cycle.committed[0])
    begun = [*whole.token_ids[: cycle.anchor_position + 1 - len(whole.prompt_ids)], other]
    branch, plain = await asyncio.gather(
        *(run(session, PROMPTS[0], method, max_tokens=TOKENS, continued=begun) for method in ("dcoco", "none"))
    )
    assert branch.prompt_ids[-2:] == [cycle.anchor, other] and branch.token_ids == plain.token_ids


async def test_system_prompt_and_turns_are_in_the_template(session):
    def text(done):
        return session._tokenizer.decode(done.prompt_ids)

    plain = await run(session, "And now?", "dcoco", max_tokens=4)
    system = await run(session, "And now?", "dcoco", max_tokens=4, system="Answer in capitals.")
    assert system.prompt_ids != plain.prompt_ids
    assert "Answer in capitals." in text(system) and text(system).count("<|im_start|>system") == 1
    turns = [{"role": "user", "content": "Count to three."}, {"role": "assistant", "content": "One, two, three."}]
    chat = await run(session, "And now?", "dcoco", max_tokens=4, system="Answer in capitals.", history=turns)
    at = [text(chat).index(part) for part in ("capitals", "Count to three.", "One, two, three.", "And now?")]
    assert at == sorted(at) and text(chat).endswith("<|im_start|>assistant\n")


async def test_a_raw_prompt_stands_as_it_is(session):
    done = await run(session, "The capital of France is", "dcoco", max_tokens=4, raw=True)
    assert session._tokenizer.decode(done.prompt_ids) == "The capital of France is"
    begun = await run(session, "The capital of", "dcoco", max_tokens=4, raw=True, continued=done.prompt_ids[-2:])
    assert begun.prompt_ids == done.prompt_ids and begun.token_ids == done.token_ids


async def test_requests_that_contradict_themselves_are_refused_in_a_sentence(session):
    for options, words in (
        ({"raw": True, "system": "x"}, "leave out the system prompt"),
        ({"raw": True, "history": [{"role": "user", "content": "x"}]}, "and the earlier messages"),
        ({"continued": [1, 49152]}, "holds token 49152, but this vocabulary ends with token 49151"),
        ({"record": "dense", "method": "none"}, "a dense record needs a method that drafts"),
        ({"walk": "greedy+cut:2"}, "P is a number above 0 and up to 1"),
    ):
        with pytest.raises(ValueError, match=words) as error:
            async for _ in session.generate(Request(prompt="hello", **options)):
                pass
        assert "\n" not in str(error.value)


async def test_a_dense_record_drafts_at_every_position_as_a_run_would(session):
    """Where a run had an anchor, the dense record of the same text has the same block; between, it has one too."""
    for method, walk in (("dcoco", "greedy"), ("dcoco", "beam:4+cut:0.3"), ("dflash", "greedy")):
        dense, full, plain = await asyncio.gather(
            run(session, PROMPTS[1], method, walk=walk, max_tokens=TOKENS, record="dense"),
            run(session, PROMPTS[1], method, walk=walk, max_tokens=TOKENS),
            run(session, PROMPTS[1], "none", max_tokens=TOKENS),
        )
        check([dense, full])
        assert dense.token_ids == full.token_ids == plain.token_ids
        assert len(dense.cycles) == TOKENS - 1
        assert all(c.submitted == 0 and c.draft_ms > 0 and c.verifier is None for c in dense.cycles)
        blocks = {c.anchor_position: c for c in dense.cycles}
        for cycle in full.cycles:
            block = blocks[cycle.anchor_position]
            np.testing.assert_allclose(block.logits, cycle.logits, atol=2e-3)
            np.testing.assert_allclose(block.lognorm, cycle.lognorm, atol=2e-3)
            if cycle.scores is not None:  # candidates that tie may stand in another order
                same = (block.candidates == cycle.candidates).all()
                assert not same or np.allclose(block.scores, cycle.scores, atol=0.05)
        ranks = [(blocks[c.anchor_position].ranks == c.ranks).all() for c in full.cycles]
        assert np.mean(ranks) > 0.8


@pytest.mark.parametrize("method", ["none", "dcoco"])
async def test_cycles_are_committed_on_the_runs_own_clock(session, method):
    for level in ("light", "full"):
        done = await run(session, PROMPTS[0], method, max_tokens=TOKENS, record=level)
        at = [cycle.at_ms for cycle in done.cycles]
        assert at[0] > 0 and all(a < b for a, b in zip(at, at[1:], strict=False))
        assert at[-1] == pytest.approx(done.seconds * 1e3, rel=0.25)
        # a cycle takes at least as long as its parts
        ends = zip(done.cycles, done.cycles[1:], strict=False)
        assert all(b.at_ms - a.at_ms > b.verify_ms for a, b in ends)
