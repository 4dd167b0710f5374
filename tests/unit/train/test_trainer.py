"""A whole run on a tiny random verifier: it learns, stops, resumes, and treats all branches alike."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from dcoco_viz.methods import checkpoint
from dcoco_viz.methods.dflash.start import from_verifier
from dcoco_viz.train import batches, objective, optim, trainer
from dcoco_viz.train.branch import parse
from dcoco_viz.train.data import DataError
from tests.unit.train import tiny


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    model = tiny.verifier()
    return model, tiny.store(tmp_path_factory.mktemp("features"), model, tiny.examples(model))


def _trainer(parts, out, say=lambda _: None, **changes):
    model, store = parts
    embedding = model.get_input_embeddings().weight
    recipe = tiny.small_recipe(**changes)
    vocab = objective.vocabulary(embedding, embedding, torch.arange(60))
    start = from_verifier(model, 2, tiny.LAYERS, 1)
    pool = ThreadPoolExecutor(2)
    return trainer.Trainer(recipe, out, start, store, 10, [store[0]], vocab, embedding, pool, torch.float32, say)


BRANCHES = [parse(name) for name in ("dflash-long", "dcoco")]


def _weights(path):
    drafter, head = checkpoint.load(path)
    return {**drafter.state_dict(), **{f"head.{k}": v for k, v in (head.state_dict() if head else {}).items()}}


def test_stopped_and_resumed_equals_uninterrupted(parts, tmp_path):
    _trainer(parts, tmp_path / "whole").run(BRANCHES)
    lines = []

    def interrupt(line):
        lines.append(line)
        if line.startswith(("dflash step 2/", "dcoco step 5/")) and lines.count(line) == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    for _ in range(2):
        with pytest.raises(trainer.Interrupted, match="--resume"):
            _trainer(parts, tmp_path / "cut", interrupt).run(BRANCHES)
    before = len(lines)
    _trainer(parts, tmp_path / "cut", lines.append).run(BRANCHES)
    assert sum(" step " in line for line in lines[before:] if line.startswith("dcoco step")) == 1
    for name in ("dflash", "dcoco"):
        whole, cut = _weights(tmp_path / "whole" / name), _weights(tmp_path / "cut" / name)
        for key in whole:  # the sums of parallel gathers may differ in their last bit
            torch.testing.assert_close(whole[key], cut[key], atol=1e-5, rtol=1e-3)


def _cut_short(parts, out):
    """A run that ended at step 2 of its shared stage."""

    def interrupt(line):
        if line.startswith("dflash step 2/"):
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(trainer.Interrupted):
        _trainer(parts, out, interrupt).run(BRANCHES)


def test_a_recipe_changed_in_between_is_told(parts, tmp_path):
    _cut_short(parts, tmp_path)
    _trainer(parts, tmp_path, anchors=4, branch_steps=1).run(BRANCHES)
    told = ["from step 2: anchors 6 -> 4"]
    assert [torch.load(tmp_path / f"{n}.pt", weights_only=True)["changes"] for n in ("dflash", "dcoco")] == [told, told]


def test_a_resumed_run_takes_the_learning_rates_of_now(parts, tmp_path):
    _cut_short(parts, tmp_path)
    now = _trainer(parts, tmp_path, adam_lr=0.0625)
    run = now._fresh(None)
    now._restore("dflash", run)
    assert run["step"] == 2
    assert 0.0625 in {group["peak"] for optimizer in run["optimizers"] for group in optimizer.param_groups}


def test_another_run_is_not_gone_on_with(parts, tmp_path):
    _cut_short(parts, tmp_path)
    with pytest.raises(DataError, match="seed = .*another --out"):
        _trainer(parts, tmp_path, seed=43).run(BRANCHES)
    model, _ = parts
    other = tiny.store(tmp_path / "features", model, tiny.examples(model)[:-1])
    with pytest.raises(DataError, match="other data"):
        _trainer((model, other), tmp_path).run(BRANCHES)


EVERY = "dflash-long dcoco dcoco-anchored domino dspark dspark+gated selector domino+frozen dcoco+no-pair+k:4+rho:2"


def test_every_method_takes_the_same_steps_on_the_same_tokens(parts, tmp_path):
    branches = [parse(name) for name in EVERY.split()]
    _trainer(parts, tmp_path).run(branches)
    states = {n: torch.load(tmp_path / f"{n}.pt", weights_only=True) for n in ("dflash", *EVERY.split())}
    shared = states.pop("dflash")
    assert shared["step"] == 3
    assert {state["step"] for state in states.values()} == {6}
    assert len({state["tokens"] for state in states.values()}) == 1
    for branch in branches:
        moved = not torch.equal(states[branch.name]["drafter"]["fc.weight"], shared["drafter"]["fc.weight"])
        assert moved != branch.frozen, branch.name
        if branch.kind:
            learned = {"domino": "table.weight", "dcoco": "output.weight"}.get(branch.kind, "after.weight")
            assert states[branch.name]["head"][learned].any(), f"{branch.name} left its start"
            assert checkpoint.load_head(tmp_path / branch.name).settings.items() >= branch.settings.items()


def test_it_learns(parts, tmp_path):
    losses = []

    def collect(line):
        if line.startswith("dflash step"):
            losses.append(float(line.split("drafter ")[1].split()[0]))

    work = _trainer(parts, tmp_path, collect, shared_steps=25, branch_steps=0, warmup=2, long_share=(0.0, 0.0))
    work.run(BRANCHES)
    assert sum(losses[-5:]) < 0.8 * sum(losses[:5])


def test_batches_depend_on_the_step_alone_and_cover_every_sequence():
    steps = [batches.chosen(step, 4, 10, seed=1) for step in range(5)]
    assert sorted(sum(steps, [])) == sorted(list(range(10)) * 2)
    assert batches.chosen(3, 4, 10, seed=1) == steps[3]


def test_blocks_hold_the_tokens_after_their_anchor(parts):
    _, store = parts
    (blocks,) = batches.micro_batches(store, [2, 5], 2, 6, batches.LONG, 1, seed=0)
    by_length = sorted((store[i] for i in (2, 5)), key=lambda s: len(s.ids))
    for s, sequence in enumerate(by_length):
        for n in range(6):
            at = int(blocks.anchors[s, n])
            assert sequence.prompt <= at < len(sequence.ids) - 1
            after = sequence.ids[at + 1 : at + 16].tolist()
            assert blocks.labels[s, n][blocks.valid[s, n]].tolist() == after
            assert blocks.tokens[s, n].tolist() == [int(sequence.ids[at])] + [1] * 15
            assert blocks.soft_ids[s, n, : len(after), 0].tolist() == after


def test_muon_step_is_orthogonal_and_the_schedule_ends_at_zero():
    for shape in ((6, 10), (10, 6)):
        values = torch.linalg.svdvals(optim.orthogonalise(torch.randn(shape), steps=8))
        assert values.min() > 0.5 and values.max() < 1.4
    factors = [optim.factor(step, 10, 20, 4) for step in range(20)]
    assert factors[3:10] == [1.0] * 7 and factors[0] == 0.25
    assert factors[10:] == sorted(factors[10:], reverse=True) and 0 < factors[-1] < 0.05
