"""Where a run ends, and what it must not leave behind."""

import asyncio

import pytest

from dcoco_viz.engine.recorder import unpack
from dcoco_viz.trace.schema import Request
from tests.engine.conftest import LIMIT, PROMPTS, run


async def test_record_levels_cost_nothing_but_detail(session):
    texts = [await run(session, PROMPTS[2], "dcoco", max_tokens=24, record=level) for level in ("off", "light", "full")]
    assert texts[0].token_ids == texts[1].token_ids == texts[2].token_ids
    assert not texts[0].cycles and texts[1].cycles
    assert [c.accepted for c in texts[1].cycles] == [c.accepted for c in texts[2].cycles]


async def test_a_cap_inside_a_block_clips_the_last_cycle(session):
    for cap in range(1, 9):
        done = await run(session, PROMPTS[0], "dcoco", max_tokens=cap)
        assert len(done.token_ids) == cap == 1 + sum(len(c.committed) for c in done.cycles)
        assert done.finish_reason == "length"


async def test_eos_ends_a_run_in_every_method(session):
    prompt = "Answer with one word: is the sky blue?"
    plain = await run(session, prompt, "none", max_tokens=200)
    done = await run(session, prompt, "dcoco", max_tokens=200)
    assert done.token_ids == plain.token_ids and done.finish_reason == plain.finish_reason == "stop"
    assert "<|im_end|>" not in done.text
    assert len(done.token_ids) == 1 + sum(len(c.committed) for c in done.cycles)


async def test_a_stop_string_ends_text_tokens_and_cycles(session):
    plain = await run(session, PROMPTS[0], "none", max_tokens=40)
    middle = plain.text[len(plain.text) // 2 :][:4]
    for method in ("none", "dflash", "dcoco"):
        streamed = ""
        async for event in session.generate(Request(prompt=PROMPTS[0], method=method, max_tokens=40, stop=[middle])):
            streamed += event.text
        done = event.run
        assert done.finish_reason == "stop"
        assert done.text == streamed == plain.text[: plain.text.index(middle)]
        assert done.token_ids == plain.token_ids[: len(done.token_ids)]
        assert len(done.token_ids) == 1 + sum(len(c.committed) for c in done.cycles)


async def test_closing_the_stream_frees_the_request_within_a_cycle(session):
    stream = session.generate(Request(prompt=PROMPTS[5], method="dcoco", max_tokens=200))
    async for event in stream:
        if len(event.run.cycles) >= 2:
            break
    await stream.aclose()
    assert event.run.finish_reason == "abort"
    committed = len(event.run.cycles)
    await asyncio.sleep(3)  # many cycles' time: whatever the engine still did for this run is on record by now
    late = [record for packed in await session._engine.collective_rpc("drain") for record in unpack(packed)]
    assert len(late) <= 2, "the cycle under way, and one done but not fetched when the stream was closed"
    other = await run(session, PROMPTS[5], "dflash", max_tokens=24)
    assert other.finish_reason == "length" and len(event.run.cycles) == committed
    assert not session._arrived, "records of the aborted run stayed behind"


async def test_cancelling_the_task_is_an_abort_too(session):
    seen = []

    async def consume():
        async for event in session.generate(Request(prompt=PROMPTS[5], method="dflash", max_tokens=200)):
            seen.append(event.run)

    task = asyncio.create_task(consume())
    while len(seen) < 3:
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen[0].finish_reason == "abort"
    assert (await run(session, PROMPTS[5], "dflash", max_tokens=4)).finish_reason == "length"


async def test_a_run_drafts_up_to_the_length_limit(session):
    """vLLM stops drafting for the whole batch near its own limit; ours lies far enough below."""
    prompt = "word " * 250
    room = LIMIT - len((await run(session, prompt, "none", max_tokens=1)).prompt_ids)
    plain, done = await asyncio.gather(
        run(session, prompt, "none", max_tokens=room), run(session, prompt, "dcoco", max_tokens=room)
    )
    assert done.token_ids == plain.token_ids
    assert all(cycle.submitted == 15 for cycle in done.cycles)
    with pytest.raises(ValueError, match=f"room for {LIMIT}"):
        await run(session, prompt, "dcoco", max_tokens=room + 1)


async def test_chunked_prefill_records_no_cycle_of_its_own(session):
    """Prompts that together exceed one step's token budget are read in chunks, and a chunk drafts nothing."""
    prompt = "one two three four five " * 60
    runs = await asyncio.gather(*(run(session, f"{n} {prompt}", "dcoco", max_tokens=4) for n in range(8)))
    assert sum(len(r.prompt_ids) for r in runs) > 2048
    for done in runs:
        assert len(done.token_ids) == 1 + sum(len(c.committed) for c in done.cycles)
        assert done.cycles[0].anchor_position == len(done.prompt_ids)


async def test_bad_requests_are_refused_in_a_sentence(session):
    for options, words in (
        ({"prompt": "   "}, "prompt is empty"),
        ({"prompt": "x " * 50_000}, "shorten the prompt"),
        ({"prompt": "hello", "method": "magic"}, "unknown method"),
        ({"prompt": "hello", "walk": "drunk"}, "unknown walk"),
    ):
        with pytest.raises(ValueError, match=words):
            async for _ in session.generate(Request(**options)):
                pass


@pytest.mark.parametrize("prompt", ["🙂👩‍👩‍👧", "مرحبا بالعالم", "\u200b\u202e zero width and override", "\x00\x07"])
async def test_any_text_is_a_prompt(session, prompt):
    done = await run(session, prompt, "dcoco", max_tokens=8)
    assert len(done.token_ids) <= 8 and done.finish_reason in ("stop", "length")
