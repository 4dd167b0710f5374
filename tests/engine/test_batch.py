"""Plain decoding of many prompts at once, as training data is written."""

from dcoco_viz import verifier
from dcoco_viz.engine.batch import Batch
from tests.engine.conftest import LIMIT, PROMPTS, run


async def test_answers_are_the_verifiers_greedy_text_whatever_the_batch(session):
    plain = [await run(session, prompt, "none", max_tokens=24) for prompt in PROMPTS]
    folder = str(verifier.prepare(lambda line: None))
    batch = Batch(folder, dtype="float32", limit=LIMIT, at_once=3, kv_cache_gib=0.25)
    try:
        asked = [one.prompt_ids for one in plain]
        first = batch.answers(iter(asked), max_tokens=24)
        next(first)
        first.close()  # the others are aborted
        answers = {answer.number: answer for answer in batch.answers(iter(asked), max_tokens=24)}
        assert [answers[i].token_ids for i in range(len(plain))] == [one.token_ids for one in plain]
        assert [answers[i].finish for i in range(len(plain))] == [one.finish_reason for one in plain]
        drawn = [
            {a.number: a.text for a in batch.answers(asked[:2], max_tokens=12, temperature=1.0, seed=seed)}
            for seed in (3, 3, 4)
        ]
        assert drawn[0] == drawn[1] != drawn[2]
    finally:
        batch.close()
