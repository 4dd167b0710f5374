"""Checkpoints survive the disk, and a bad one says what is wrong with it."""

import json

import pytest
import torch
from safetensors.torch import load_file

from dcoco_viz.methods import checkpoint
from dcoco_viz.methods.dcoco.model import Corrector
from dcoco_viz.methods.dflash.model import Drafter
from tests.unit.methods.test_drafter import CONFIG


@pytest.fixture
def saved(tmp_path):
    torch.manual_seed(0)
    drafter, corrector = Drafter(CONFIG), Corrector(48, rank=8, mlp_hidden=16)
    checkpoint.save(tmp_path / "dcoco", drafter, corrector, dtype=torch.float32)
    return tmp_path / "dcoco", drafter, corrector


def test_round_trip(saved):
    folder, drafter, corrector = saved
    again, head = checkpoint.load(folder)
    assert again.config == drafter.config
    for module, other in ((drafter, again), (corrector, head)):
        for name, tensor in module.state_dict().items():
            assert torch.equal(tensor, other.state_dict()[name]), name


def test_layout_is_the_one_that_vllm_loads(saved):
    folder, *_ = saved
    raw = json.loads((folder / "config.json").read_text())
    assert (
        raw["architectures"] == ["DFlashDraftModel"]
        and raw["model_type"] == "qwen3"
        and raw["block_size"] == 16
    )
    assert raw["dflash_config"] == {"mask_token_id": 1, "target_layer_ids": [0, 2]}
    names = set(load_file(folder / "model.safetensors"))
    assert {"fc.weight", "hidden_norm.weight", "norm.weight", "layers.1.self_attn.q_norm.weight"} <= names
    assert not any("embed" in name or "head" in name or "dcoco" in name for name in names)


def test_a_drafter_without_a_corrector(tmp_path):
    checkpoint.save(tmp_path, Drafter(CONFIG))
    assert checkpoint.load(tmp_path)[1] is None
    assert {t.dtype for t in load_file(tmp_path / "model.safetensors").values()} == {torch.bfloat16}


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda f: (f / "config.json").unlink(), "config.json cannot be read"),
        (lambda f: (f / "config.json").write_text("{"), "config.json cannot be read"),
        (lambda f: (f / "config.json").write_text("{}"), "lacks 'dflash_config'"),
        (lambda f: (f / "model.safetensors").write_bytes(b"no"), "cannot be read"),
        (lambda f: (f / "dcoco" / "model.safetensors").unlink(), "cannot be read"),
        (lambda f: (f / "dcoco" / "model.safetensors").rename(f / "model.safetensors"), "does not fit"),
    ],
)
def test_damage_is_named(saved, damage, words):
    damage(saved[0])
    with pytest.raises(checkpoint.CheckpointError, match=words):
        checkpoint.load(saved[0])
