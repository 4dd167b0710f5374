"""In float32 speculation changes nothing but the time: the project's first promise."""

import asyncio

import numpy as np
import torch

from dcoco_viz.engine.session import Session
from dcoco_viz.lattice.accept import accepted_length
from dcoco_viz.lattice.walk import greedy
from dcoco_viz.methods import METHODS
from tests.engine.conftest import PROMPTS, run

EVERY = tuple(name for name, method in METHODS.items() if method.drafter and name != "dflash-long")
SPECULATIVE = ("dflash", "dcoco", "domino")  # no head, one that scores a grid, one that goes slot by slot
TOKENS = 40


async def test_every_method_says_what_plain_decoding_says(session, preset):
    """8 prompts, all methods interleaved in one batch; then the same drafts from an engine with one drafter alone."""
    plain = [await run(session, prompt, "none", max_tokens=TOKENS) for prompt in PROMPTS]
    mixed = {}
    for prompt, reference in zip(PROMPTS, plain, strict=True):
        runs = await asyncio.gather(*(run(session, prompt, m, max_tokens=TOKENS) for m in ("none", *EVERY)))
        for speculative in runs:
            assert speculative.token_ids == reference.token_ids, (speculative.request.method, prompt)
            mixed[speculative.request.method, prompt] = speculative
    assert any(cycle.accepted for r in mixed.values() for cycle in r.cycles), "no draft was ever accepted"

    for name in ("dflash", "dcoco-anchored"):
        alone = preset.model_copy(update={"drafters": {name: preset.drafters[name]}})
        fresh = await Session.start(alone, dtype="float32")
        try:
            for prompt in PROMPTS[:4]:
                compare_drafts(await run(fresh, prompt, name, max_tokens=TOKENS), mixed[name, prompt])
        finally:
            await fresh.close()


def compare_drafts(one, other):
    assert [c.anchor_position for c in one.cycles] == [c.anchor_position for c in other.cycles]
    for a, b in zip(one.cycles, other.cycles, strict=True):
        np.testing.assert_allclose(a.logits, b.logits, atol=2e-3)
        np.testing.assert_allclose(a.lognorm, b.lognorm, atol=2e-3)
        assert (a.scores is None) == (b.scores is None)
        if a.corrected is not None:
            np.testing.assert_allclose(a.corrected, b.corrected, atol=1e-2)


async def test_a_record_is_what_the_engine_did(session):
    """Path, acceptance and committed tokens of every cycle follow from its own scores and the verifier's tokens."""
    assert set(EVERY) <= set(session.methods)
    for method in EVERY:
        done = await run(session, PROMPTS[0], method, max_tokens=TOKENS)
        for cycle in done.cycles:
            assert cycle.candidates.shape == (15, 16) and (np.diff(cycle.logits, axis=1) <= 0).all()
            assert (cycle.logits <= cycle.lognorm[:, None]).all()
            path = cycle.candidates[np.arange(15), cycle.ranks]
            np.testing.assert_array_equal(path[: cycle.submitted], cycle.drafted)
            serial, head = METHODS[method].serial, METHODS[method].head
            assert (cycle.scores is not None) == bool(head and not serial)
            assert (cycle.corrected is not None) == (serial or method == "dcoco-anchored")
            assert (cycle.confidence is not None) == (head == "dspark")
            if not head:
                assert not cycle.ranks.any()
            elif cycle.corrected is not None:
                np.testing.assert_array_equal(cycle.corrected.argmax(-1), cycle.ranks)
            else:
                first, scores = torch.tensor(cycle.logits[0]), torch.tensor(cycle.scores.astype(np.float32))
                walked = greedy(first, scores).numpy()
                for p in np.flatnonzero(walked != cycle.ranks):  # only a tie in float16 may differ
                    row = cycle.scores[p - 1, cycle.ranks[p - 1]]
                    assert row[cycle.ranks[p]] == row.max() or (walked[:p] != cycle.ranks[:p]).any()
            if method == "dcoco-anchored":
                rows = cycle.scores[np.arange(14), cycle.ranks[:-1]].astype(np.float32)
                np.testing.assert_allclose(cycle.corrected[1:], rows, rtol=2e-3, atol=1e-2)
            n = cycle.submitted
            accepted = accepted_length(torch.tensor(cycle.drafted), torch.tensor(cycle.verifier[:n]))
            assert accepted == cycle.accepted
            full = np.append(cycle.drafted[: cycle.accepted], cycle.verifier[cycle.accepted])
            np.testing.assert_array_equal(cycle.committed, full[: len(cycle.committed)])
            assert (cycle.drafted_logprob <= 0).all()
            assert cycle.draft_ms > 0 and cycle.verify_ms > 0 and 0 < cycle.head_ms < cycle.draft_ms
            start = cycle.anchor_position + 1 - len(done.prompt_ids)
            assert done.token_ids[start - 1] == cycle.anchor
            assert done.token_ids[start : start + len(cycle.committed)] == cycle.committed.tolist()


async def test_accounting_agrees_with_vllm(session):
    """output = 1 + sum of committed; accepted and drafted counts are those of vLLM's own per-request metrics."""
    for method in ("none", *SPECULATIVE):
        done = await run(session, PROMPTS[1], method, max_tokens=TOKENS, record="light")
        assert len(done.token_ids) == 1 + sum(len(c.committed) for c in done.cycles)
        assert all(len(c.committed) == c.accepted + 1 or c.clipped for c in done.cycles)
        assert all(c.candidates is None for c in done.cycles)
        if method != "none":
            assert [c.submitted for c in done.cycles] == done.meta["vllm_drafted"]
            assert [c.accepted for c in done.cycles] == done.meta["vllm_accepted"]


async def test_slots_are_a_choice_per_request(session):
    reference = await run(session, PROMPTS[3], "none", max_tokens=TOKENS)
    runs = await asyncio.gather(*(run(session, PROMPTS[3], "dcoco", max_tokens=TOKENS, slots=n) for n in (1, 4, 15)))
    for slots, done in zip((1, 4, 15), runs, strict=True):
        assert done.token_ids == reference.token_ids
        assert {cycle.submitted for cycle in done.cycles} == {slots}
        assert {len(cycle.verifier) for cycle in done.cycles} == {slots + 1}
