"""Features on disk are the verifier's own, whatever the batching, and survive an interruption."""

import pytest
import torch

from dcoco_viz.train import features
from tests.unit.train import tiny


@pytest.fixture(scope="module")
def model():
    return tiny.verifier()


@pytest.fixture(scope="module")
def rows(model):
    return tiny.examples(model)


def test_equal_to_one_forward_of_the_verifier(tmp_path, model, rows):
    store = tiny.store(tmp_path, model, rows)
    for i, example in enumerate(rows):
        sequence = store[i]
        out = model(sequence.ids[None], output_hidden_states=True)
        expected = torch.cat([out.hidden_states[layer + 1][0] for layer in tiny.LAYERS], -1)
        torch.testing.assert_close(sequence.hidden.float(), expected, atol=0.05, rtol=0.02)
        first = sequence.prompt - 1
        assert sequence.top_ids[first:-1, 0].tolist() == example.response_ids
        assert (sequence.top_logp[first:].diff() <= 0).all()


def test_goes_on_where_it_stopped_and_can_be_read_while_it_grows(tmp_path, model, rows, monkeypatch):
    monkeypatch.setattr(features, "SHARD", 2)
    whole = tiny.store(tmp_path / "whole", model, rows)
    part = features.Store(tmp_path / "part", rows, {}, tiny.WIDTH)
    labels = features.label_tokens(rows, 60)
    budget = int(part.offsets[5])
    assert features.extract(part, model, tiny.LAYERS, labels, tokens=budget, progress=lambda _: None) == 5
    assert torch.equal(part.open()[4].hidden, whole[4].hidden)
    before = part.path.joinpath("hidden.bin").stat().st_size
    assert features.extract(part, model, tiny.LAYERS, labels, progress=lambda _: None) == len(rows)
    assert part.path.joinpath("hidden.bin").stat().st_size == before
    for i in range(len(rows)):
        torch.testing.assert_close(part.open()[i].hidden.float(), whole[i].hidden.float(), atol=0.05, rtol=0.02)


def test_another_verifier_or_other_data_gets_another_store(tmp_path, rows):
    paths = {
        features.Store(tmp_path, part, key, width).path
        for part, key, width in (
            (rows, {}, 8),
            (rows[1:], {}, 8),
            (rows, {"verifier": "x"}, 8),
            (rows, {}, 16),
        )
    }
    assert len(paths) == 4


def test_refuses_a_disk_that_is_too_small(tmp_path, model, rows, monkeypatch):
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(features.shutil, "disk_usage", lambda _: usage)
    store = features.Store(tmp_path, rows, {}, tiny.WIDTH)
    with pytest.raises(OSError, match="DCOCO_VIZ_CACHE"):
        features.extract(store, model, tiny.LAYERS, features.label_tokens(rows, 60))
