"""The lines under a run's numbers."""

import json

import numpy as np
import pytest

from dcoco_viz.components.feed import Sender
from dcoco_viz.components.warnings import warnings
from dcoco_viz.presets import ROOT
from dcoco_viz.prompts import examples
from dcoco_viz.trace.schema import Cycle, Request, Run

CARD = json.loads((ROOT / "assets/checkpoints/smollm2-135m/dcoco/card.json").read_text(encoding="utf-8"))
GRAM = [1, 3, 5, 7, 9]


def run_of(tokens, lengths, **asked):
    """A run of the embedded verifier whose cycles commit so many of the tokens each, after the first."""
    request = Request(**{"prompt": "p", "method": "dcoco", **asked})
    run = Run("r", request, [20, 21, 22], list(tokens), finish_reason="length", meta={"preset": "smollm2-cpu"})
    run.pieces = {t: f" w{t}" for t in [*tokens, *run.prompt_ids]}
    start = 1
    for index, length in enumerate(lengths):
        committed = np.asarray(tokens[start : start + length], np.int32)
        start += length
        cycle = Cycle("r", index, 0, 0, "dcoco", "greedy", 15, length - 1, committed, committed, 1.0, 1.0, 1.0)
        run.cycles.append(cycle)
    assert start == len(tokens)
    return run


def plain(count):
    return range(100, 100 + count)  # no token twice


def test_a_usual_run_has_none():
    assert warnings(run_of(plain(61), [1] * 20 + [2] * 20)) == []


def test_far_below():
    pooled = CARD["held_out_tau"]["pooled"]
    (line,) = warnings(run_of(plain(31), [1] * 30))
    assert line["kind"] == "low" and "tokens" not in line
    assert "τ = 1.00" in line["text"] and f"has {pooled['tau']:.2f}" in line["text"]
    assert f"{pooled['interval'][0]:.2f} to {pooled['interval'][1]:.2f}" in line["text"]
    assert f"{CARD['held_out']['prompts']} held-out prompts of all kinds" in line["text"]


def test_far_above_without_a_loop():
    (line,) = warnings(run_of(plain(101), [4] * 25))
    assert line["kind"] == "high" and "no n-gram" in line["text"] and "tokens" not in line


def test_far_above_names_the_loop():
    (line,) = warnings(run_of([0, *GRAM * 20], [4] * 25))
    assert line["kind"] == "high"
    assert "from token 2 on, these 5 tokens come 20 times in a row and cover 100 tokens" in line["text"]
    assert line["tokens"] == [f" w{t}" for t in GRAM]


def test_a_loop_alone():
    (line,) = warnings(run_of([*plain(21), *GRAM * 6], [2] * 25))
    assert line["kind"] == "loop" and line["tokens"] == [f" w{t}" for t in GRAM]
    assert "from token 22 on" in line["text"]


@pytest.mark.parametrize("example", [e for e in examples() if e.source])
def test_the_norm_of_an_example_is_that_of_its_source(example):
    (line,) = warnings(run_of(plain(31), [1] * 30, prompt=example.text))
    known = CARD["held_out_tau"]["by_source"][example.source]
    assert f"{known['prompts']} held-out {example.source} prompts this drafter has {known['tau']:.2f}" in line["text"]


def test_in_a_chat_an_example_is_no_example():
    prompt = next(e.text for e in examples() if e.source)
    (line,) = warnings(run_of(plain(31), [1] * 30, prompt=prompt, system="Be brief."))
    assert "prompts of all kinds" in line["text"]


@pytest.mark.parametrize("meta", [{}, {"preset": "no such"}, {"preset": "qwen3-8b"}])
def test_without_a_card_there_is_no_norm(meta):
    run = run_of(plain(31), [1] * 30)
    run.meta = meta
    assert warnings(run) == []


def test_the_feed_carries_them_as_the_run_grows():
    whole = run_of([*plain(21), *GRAM * 6], [2] * 25)
    run = Run(whole.id, whole.request, whole.prompt_ids, whole.token_ids[:1], [], whole.pieces, meta=whole.meta)
    sender, seen = Sender(run), []
    for cycle in whole.cycles:
        run.cycles.append(cycle)
        run.token_ids += cycle.committed.tolist()
        seen.append(len(sender.value("running")["figures"]["warnings"]))
    assert seen[0] == 0
    assert sender.value("done")["figures"]["warnings"] == warnings(whole)
