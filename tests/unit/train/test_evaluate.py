"""The offline walk against a slow one, token by token."""

import numpy as np
import pytest
import torch

from dcoco_viz.methods.dcoco.model import Corrector
from dcoco_viz.methods.dflash.start import from_verifier
from dcoco_viz.train import data, evaluate
from tests.unit.train import tiny


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    model = tiny.verifier()
    store = tiny.store(tmp_path_factory.mktemp("features"), model, tiny.examples(model))
    drafter = from_verifier(model, 2, tiny.LAYERS, 1).requires_grad_(False)
    corrector = Corrector(32, rank=8, mlp_hidden=16).requires_grad_(False)
    torch.manual_seed(3)
    torch.nn.init.normal_(corrector.output.weight, std=2.0)
    return drafter, corrector, [store[i] for i in range(10)], model.get_input_embeddings().weight


def _slow(drafter, corrector, sequence, embedding):
    """One response: draft, choose, compare, commit."""
    ids, at, cycles = sequence.ids.tolist(), sequence.prompt, []
    while at < len(ids) - 1:
        tokens = torch.tensor([ids[at]] + [1] * 15)
        context = drafter.context(sequence.hidden[None, :at].float())
        hidden = drafter(embedding[tokens][None, None], torch.tensor([[at]]), context)[0, 0, 1:]
        values, pool = (hidden @ embedding.T).topk(16)
        path = [0]
        if corrector is not None:
            scores = corrector(hidden[None], embedding[pool][None], values[None])[0]
            for p in range(14):
                path.append(int(scores[p, path[-1]].argmax()))
        else:
            path = [0] * 15
        accepted = 0
        while accepted < 15 and at + 1 + accepted < len(ids):
            if pool[accepted, path[accepted]] != ids[at + 1 + accepted]:
                break
            accepted += 1
        cycles.append(min(accepted + 1, len(ids) - 1 - at))
        at += cycles[-1]
    return cycles


@pytest.mark.parametrize("head", [False, True])
def test_equals_the_slow_walk(setting, head):
    drafter, corrector, sequences, embedding = setting
    corrector = corrector if head else None
    walked = evaluate.walk_all(drafter, corrector, sequences, embedding, embedding)
    for sequence, w in zip(sequences, walked, strict=True):
        assert w.committed.tolist() == _slow(drafter, corrector, sequence, embedding)
        assert w.committed.sum() == len(sequence.ids) - sequence.prompt - 1


def test_coverage_and_prefixes_agree_with_each_other(setting):
    drafter, corrector, sequences, embedding = setting
    walked = evaluate.walk_all(drafter, corrector, sequences, embedding, embedding)
    one, all_k = evaluate.coverage(walked, 1), evaluate.coverage(walked, 16)
    assert all(a <= b for a, b in zip(one, all_k, strict=True))
    prefix = evaluate.prefixes(walked)
    assert prefix["top1"] <= prefix["oracle"] and prefix["selected"] <= prefix["oracle"]
    alone = evaluate.prefixes(evaluate.walk_all(drafter, None, sequences, embedding, embedding))
    assert alone["top1"] == alone["selected"]


def _walked(committed, loop=None):
    n = len(committed)
    loop = np.zeros(n, bool) if loop is None else np.array(loop)
    full, ranks = np.ones(n, bool), np.zeros((n, 15), np.int8)
    return evaluate.Walked("s", np.array(committed), loop, np.array(committed) - 1, full, ranks)


def test_tau_is_pooled_and_can_leave_loops_out():
    walked = [_walked([1, 3], [False, True]), _walked([2, 2, 2])]
    assert evaluate.tau(walked) == 2.0
    assert evaluate.tau(walked, loops=False) == 7 / 4


def test_paired_interval_is_narrower_than_the_spread_of_prompts():
    rng = np.random.default_rng(0)
    base = [rng.integers(1, 8, 30) for _ in range(40)]
    low, high = [_walked(b) for b in base], [_walked(b + 1) for b in base]
    a, b = evaluate.interval(high, low)
    assert a == pytest.approx(1.0) and b == pytest.approx(1.0)
    a, b = evaluate.interval(low)
    assert a < evaluate.tau(low) < b


def test_loop_cycles_are_those_that_start_in_a_repeat(setting, monkeypatch):
    # The tiny verifier's answers are short: a loop is a repeated pair here.
    monkeypatch.setattr(evaluate, "repeats", lambda ids: data.repeats(ids, 2))
    drafter, _, sequences, embedding = setting
    walked = evaluate.walk_all(drafter, None, sequences, embedding, embedding)
    for sequence, w in zip(sequences, walked, strict=True):
        marks = data.repeats(sequence.ids[sequence.prompt :].tolist(), 2)
        starts = 1 + np.concatenate([[0], np.cumsum(w.committed)[:-1]])
        assert w.loop.tolist() == [marks[i] for i in starts]
    assert any(w.loop.any() for w in walked), "the tiny verifier should loop somewhere"
