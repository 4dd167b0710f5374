"""A verifier's own words: answered once, kept at once, gone on with after any end. The verifier here is a tiny one."""

import json
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from dcoco_viz.train import data
from dcoco_viz.train.prompts import Prompt
from dcoco_viz.train.regenerate import Template, regenerate
from tests.unit.train import tiny

CHAT = "{% for m in messages %}<u> {{ m.content }} <e> {% endfor %}{% if add_generation_prompt %}<a>{% endif %}"
THINKS = CHAT + "{% if enable_thinking %} w20{% endif %}"
PROMPTS = [Prompt("ab"[i % 2], f"w{i} w{i + 3} w{i + 7}") for i in range(10, 18)]
ASKED = {"verifier": "abc", "max_tokens": 24}


def tokenizer(chat=CHAT):
    words = {"<u>": 0, "<e>": 1, "<a>": 2} | {f"w{i}": i for i in range(3, 60)}
    made = Tokenizer(models.WordLevel(words, unk_token="w3"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=made, chat_template=chat, eos_token="<e>")


class Answer(NamedTuple):
    number: int
    token_ids: list[int]
    finish: str
    text: str


class Tiny:
    """Decodes one prompt after the other with transformers; stops after `most` of them, as a signal would."""

    def __init__(self, most=None):
        self.most, self.asked = most, []

    def answers(self, prompts, *, max_tokens, temperature=0.0, seed=0):
        for number, ids in enumerate(prompts):
            if self.most is not None and len(self.asked) == self.most:
                raise KeyboardInterrupt
            self.asked.append(ids)
            torch.manual_seed(seed + number)
            options = {"do_sample": True, "temperature": temperature} if temperature else {"do_sample": False}
            out = tiny.verifier().generate(
                torch.tensor([ids]), max_new_tokens=max_tokens, eos_token_id=1, pad_token_id=1, **options
            )[0, len(ids) :].tolist()
            text = tokenizer().decode([token for token in out if token > 2])
            yield Answer(number, out, "stop" if out[-1] == 1 else "length", text)


def go(tmp_path, batch, prompts=PROMPTS, **options):
    said = []
    options = {"asked": ASKED, "max_tokens": 24, "limit": 64, "say": said.append} | options
    told = regenerate(batch, Template(tokenizer()), prompts, tmp_path / "data.parquet", **options)
    return told, said


def rows(tmp_path):
    return pq.read_table(tmp_path / "data.parquet").to_pylist()


def test_the_file_holds_the_verifiers_greedy_answers(tmp_path):
    told, _ = go(tmp_path, Tiny())
    read = data.read(tmp_path / "data.parquet", 60)
    assert told["rows"] == len(read) == 8 and not (tmp_path / "data.parquet.journal").exists()
    by_prompt = {example.prompt: example for example in read}
    for prompt in PROMPTS:
        example = by_prompt[prompt.text]
        assert example.source == prompt.source
        assert example.prompt_ids == [0, *(int(w[1:]) for w in prompt.text.split()), 1, 2]
        [plain] = Tiny().answers([example.prompt_ids], max_tokens=24)
        assert example.response_ids == plain.token_ids
    assert told["held_out"] == sum(data.held_out(p.text) for p in PROMPTS)
    assert told["response_tokens"] == sum(len(e.response_ids) for e in read)


def test_loops_are_marked_where_they_start(tmp_path):
    go(tmp_path, Tiny(), max_tokens=48)
    for row in rows(tmp_path):
        marks = data.repeats(row["response_ids"])
        assert row["loop"] == (marks.index(True) if True in marks else -1)
        assert row["finish"] == ("stop" if row["response_ids"][-1] == 1 else "length")
    assert any(row["loop"] >= 0 for row in rows(tmp_path))


def test_a_prompt_is_answered_once_and_a_long_one_not_at_all(tmp_path):
    batch, long = Tiny(), Prompt("a", "w9 " * 50)
    told, said = go(tmp_path, batch, [*PROMPTS[:2], long, PROMPTS[0]])
    assert len(batch.asked) == told["rows"] == 2 and told["left_out"] == 1
    assert any("1 prompts left out" in line for line in said)


def test_a_run_that_was_broken_off_goes_on(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path, Tiny(most=3))
    assert not (tmp_path / "data.parquet").exists()
    journal = tmp_path / "data.parquet.journal"
    journal.write_bytes(journal.read_bytes()[:-9])  # the third row was being written
    batch = Tiny()
    told, said = go(tmp_path, batch)
    assert len(batch.asked) == 6 and told["rows"] == 8 and "2 prompts are answered" in said[0]
    (tmp_path / "whole").mkdir()
    go(tmp_path / "whole", Tiny())
    assert rows(tmp_path) == rows(tmp_path / "whole")


def test_a_journal_of_another_run_is_not_gone_on_with(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path, Tiny(most=3))
    with pytest.raises(data.DataError, match="another run|another max_tokens"):
        go(tmp_path, Tiny(), asked=ASKED | {"max_tokens": 25})


def test_nothing_to_answer(tmp_path):
    with pytest.raises(data.DataError, match="no prompt to answer"):
        go(tmp_path, Tiny(), [])


def test_the_verifier_writes_prompts_itself(tmp_path):
    batch = Tiny()
    told, _ = go(tmp_path, batch, PROMPTS[:1], write=3, max_tokens=40, limit=128)
    own = [row for row in rows(tmp_path) if row["source"] == "self-instruct"]
    assert told["rows"] == 4 and len({row["prompt"] for row in own}) == 3
    assert [0] in batch.asked  # what stands before a user's words
    assert all("<" not in row["prompt"] and len(row["prompt"]) >= 8 for row in own)


def test_self_written_prompts_are_kept_when_it_is_broken_off(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path, Tiny(most=30), [], write=20, max_tokens=40, limit=128)
    kept = [json.loads(line) for line in (tmp_path / "data.parquet.journal").read_text().splitlines()[1:]]
    go(tmp_path, Tiny(), [], write=20, max_tokens=40, limit=128)
    assert kept and {row["written"] for row in kept} <= {row["prompt"] for row in rows(tmp_path)}
    assert len(rows(tmp_path)) == 20


def test_a_verifier_that_ends_no_turn_says_so(tmp_path):
    with pytest.raises(data.DataError, match="give it prompts"):
        go(tmp_path, Tiny(), [], write=5, max_tokens=2)


def test_thinking_needs_a_template_that_knows_it():
    assert Template(tokenizer(THINKS), True).ids("w9")[-1] == 20
    assert Template(tokenizer(THINKS), False).ids("w9")[-1] == 2
    with pytest.raises(data.DataError, match="knows no thinking"):
        Template(tokenizer(), True)
    with pytest.raises(data.DataError, match="no chat template"):
        Template(tokenizer(None))


def test_a_file_by_another_verifier_is_refused(tmp_path):
    go(tmp_path, Tiny(), PROMPTS[:2])
    data.check_author(tmp_path / "data.parquet", "abc")
    with pytest.raises(data.DataError, match="written by another verifier"):
        data.check_author(tmp_path / "data.parquet", "abd")
