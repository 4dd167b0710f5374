"""The offline walk against a slow one, token by token."""

import numpy as np
import pytest
import torch

from dcoco_viz.lattice.walk import parse
from dcoco_viz.methods import heads
from dcoco_viz.methods.block import Block
from dcoco_viz.methods.dflash.start import from_verifier
from dcoco_viz.train import data, evaluate
from tests.unit.train import tiny

HEADS = {
    "": {},
    "dcoco": {"rank": 8, "mlp_hidden": 16},
    "anchored": {"rank": 8, "mlp_hidden": 16, "anchored": True},
    "selector": {"rank": 6},
    "domino": {"rank": 6, "width": 8},
    "dspark": {"rank": 6, "variant": "rnn"},
}


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    model = tiny.verifier()
    store = tiny.store(tmp_path_factory.mktemp("features"), model, tiny.examples(model))
    drafter = from_verifier(model, 2, tiny.LAYERS, 1).requires_grad_(False)
    return drafter, [store[i] for i in range(10)], model.get_input_embeddings().weight


def _head(name: str) -> torch.nn.Module | None:
    if not name:
        return None
    torch.manual_seed(3)
    head = heads.make({"anchored": "dcoco"}.get(name, name), 32, 60, **HEADS[name]).requires_grad_(False)
    for p in head.parameters():
        torch.nn.init.normal_(p, std=0.6)
    return head


def _slow(drafter, head, sequence, embedding, walk):
    """One response: draft, choose in the whole block, compare, commit."""
    ids, at, cycles = sequence.ids.tolist(), sequence.prompt, []
    while at < len(ids) - 1:
        tokens = torch.tensor([ids[at]] + [1] * 15)
        context = drafter.context(sequence.hidden[None, :at].float())
        hidden = drafter(embedding[tokens][None, None], torch.tensor([[at]]), context)[0]
        values, pool = (hidden[0, 1:] @ embedding.T).topk(16)
        path = [0] * 15
        if head is not None:
            block = Block(hidden, tokens[:1], pool[None], values[None], lambda i: embedding[i])
            path = heads.decide(head, block, [walk]).ranks[0].tolist()
        accepted = 0
        while accepted < 15 and at + 1 + accepted < len(ids):
            if pool[accepted, path[accepted]] != ids[at + 1 + accepted]:
                break
            accepted += 1
        cycles.append(min(accepted + 1, len(ids) - 1 - at))
        at += cycles[-1]
    return cycles


@pytest.mark.parametrize(
    ("name", "walk"), [*((name, "greedy") for name in HEADS), ("anchored", "global-sum"), ("dcoco", "beam:3")]
)
def test_equals_the_slow_walk(setting, name, walk):
    drafter, sequences, embedding = setting
    head, walk = _head(name), parse(walk)
    walked = evaluate.walk_all(drafter, head, sequences, embedding, embedding, walk=walk)
    for sequence, w in zip(sequences, walked, strict=True):
        assert w.committed.tolist() == _slow(drafter, head, sequence, embedding, walk)
        assert w.committed.sum() == len(sequence.ids) - sequence.prompt - 1


def test_coverage_and_prefixes_agree_with_each_other(setting):
    drafter, sequences, embedding = setting
    walked = evaluate.walk_all(drafter, _head("dcoco"), sequences, embedding, embedding)
    one, all_k = evaluate.coverage(walked, 1), evaluate.coverage(walked, 16)
    assert all(a <= b for a, b in zip(one, all_k, strict=True))
    prefix = evaluate.prefixes(walked)
    assert prefix["top1"] <= prefix["oracle"] and prefix["selected"] <= prefix["oracle"]
    assert abs(prefix["selected"] - prefix["top1"]) <= 15 * (prefix["helped"] + prefix["harmed"]) + 1e-3
    alone = evaluate.prefixes(evaluate.walk_all(drafter, None, sequences, embedding, embedding))
    assert alone["top1"] == alone["selected"] and alone["helped"] == alone["harmed"] == 0
    two = [_walked([1, 4]), _walked([3, 2])]  # _walked says that every first choice was right, to the end
    assert evaluate.prefixes(two)["harmed"] == 1 and evaluate.prefixes(two)["helped"] == 0


def _walked(committed, loop=None):
    n = len(committed)
    loop = np.zeros(n, bool) if loop is None else np.array(loop)
    full, ranks = np.ones(n, bool), np.zeros((n, 15), np.int8)
    return evaluate.Walked("s", np.array(committed), loop, np.array(committed) - 1, 16, full, ranks)


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
    drafter, sequences, embedding = setting
    walked = evaluate.walk_all(drafter, None, sequences, embedding, embedding)
    for sequence, w in zip(sequences, walked, strict=True):
        marks = data.repeats(sequence.ids[sequence.prompt :].tolist(), 2)
        starts = 1 + np.concatenate([[0], np.cumsum(w.committed)[:-1]])
        assert w.loop.tolist() == [marks[i] for i in starts]
    assert any(w.loop.any() for w in walked), "the tiny verifier should loop somewhere"
