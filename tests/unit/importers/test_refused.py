"""Every mismatch is one plain sentence, said before a weight is read, and nothing is written."""

import json
import re
import subprocess
import sys

import huggingface_hub
import pytest
import torch

from dcoco_viz.importers import Refused, convert, tensors
from dcoco_viz.methods import checkpoint
from tests.unit.importers import folders


def refused(tmp_path, source, verifier="", out="out") -> list[str]:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Refused) as error:
        convert.run(str(source), tmp_path / out, str(verifier))
    assert sorted(tmp_path.rglob("*")) == before
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in error.value.sentences)
    return error.value.sentences


@pytest.fixture
def no_weights_read(monkeypatch):
    def fail(_):
        raise AssertionError("weights were read before the mismatch was named")

    monkeypatch.setattr(tensors, "load", fail)


METHOD = folders.ZLAB["dflash_config"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"hidden_size": None}, "hidden_size in its config.json is missing"),
        ({"num_key_value_heads": 4}, "6 attention heads cannot share 4 key and value heads"),
        ({"rope_theta": None}, "rope_theta in its config.json is missing"),
        ({"num_target_layers": None}, "how many layers its verifier has: name the verifier with --verifier"),
        ({"block_size": None}, "block_size is missing"),
        ({"block_size": 1}, "block_size is 1; a block is an anchor and at least one slot"),
        ({"dflash_config": METHOD | {"block_size": 8}}, "two block sizes: 16, and 8 in dflash_config"),
        ({"dflash_config": METHOD | {"mask_token_id": None}}, "mask_token_id is missing"),
        ({"dflash_config": METHOD | {"mask_token_id": 50}}, "mask token 50 is not among the verifier's 50 tokens"),
        ({"dflash_config": METHOD | {"target_layer_ids": []}}, "their ids are missing"),
        ({"dflash_config": METHOD | {"target_layer_ids": [0, 4]}}, r"layers \[0, 4\], and there are 0 to 3"),
        ({"dflash_config": METHOD | {"causal": True}}, "It is causal"),
        ({"is_causal": True}, "It is causal"),
        ({"dflash_config": METHOD | {"sample_from_anchor": True}}, "drafts at its anchor too"),
        ({"dflash_config": METHOD | {"shift_label": True}}, "drafts the token after it"),
        ({"layer_types": ["sliding_attention", "full_attention"]}, "layers of sliding_attention"),
        ({"dflash_config": METHOD | {"use_swa": True}}, "layers of sliding_attention"),
        ({"dflash_config": METHOD | {"attention_mode": "mla"}}, "attention is of the kind mla"),
        ({"dflash_config": METHOD | {"attention_sink_bias": True}}, "attention has sinks"),
        ({"dflash_config": METHOD | {"attention_value_scale": 2.0}}, "scales its values by 2.0"),
        ({"dflash_config": METHOD | {"use_aux_hidden_state": False}}, "does not read the verifier's layers"),
        ({"dflash_config": 3}, "dflash_config in its config.json is 3, and an object is needed"),
        ({"attention_bias": True}, "attention has biases"),
        ({"hidden_act": "gelu"}, "activation is gelu"),
        ({"rope_scaling": {"type": "yarn", "factor": 4.0}}, "rotary embedding is of the type yarn"),
        ({"partial_rotary_factor": 0.5}, "rotary embedding turns a part of a head"),
        ({"logit_scale": 0.5}, "scales its logits by 0.5"),
        ({"draft_vocab_size": 32}, "reduced vocabulary of 32 of 50 tokens"),
        ({"target_hidden_size": 64}, "hidden_size is 48 and its verifier's 64"),
        ({"quantization_config": {"bits": 4}}, "weights are quantised"),
        ({"architectures": ["LlamaForCausalLMEagle3"]}, "EAGLE-3, whose drafter is causal"),
        ({"architectures": ["DFlash2DraftModel"]}, "DFlash2, which adds a convolution"),
        ({"architectures": ["Qwen3ForCausalLM"]}, "says Qwen3ForCausalLM, and no DFlashDraftModel"),
        ({"architectures": None}, "says no architecture"),
        ({"dflash_config": METHOD | {"projector_type": "domino"}}, "Domino, which adds a recurrent head"),
        ({"dcoco_config": {"rank": 8, "mlp_hidden": 16, "top_k": 16}}, "dcoco/model.safetensors is missing"),
    ],
)
def test_a_config_that_does_not_fit(tmp_path, no_weights_read, change, says):
    (sentence,) = refused(tmp_path, folders.folder(tmp_path / "source", folders.ZLAB | change))
    assert re.search(says, sentence)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"speculators_model_type": "eagle3"}, "EAGLE-3, whose drafter is causal"),
        ({"speculators_model_type": "peagle"}, "P-EAGLE, whose drafter is causal"),
        ({"speculators_model_type": "dspark"}, "DSpark, which adds a Markov head"),
        ({"projector_type": "domino"}, "Domino, which adds a recurrent head"),
        ({"draft_vocab_size": 32}, "reduced vocabulary of 32 of 50 tokens"),
        ({"aux_hidden_state_layer_ids": [0, 3]}, "layers [-1, 2], and there are 0 to 3"),
        ({"aux_hidden_state_layer_ids": None}, "their ids are missing"),
        ({"mask_token_id": None}, "mask_token_id is missing"),
        ({"sample_from_anchor": True}, "drafts at its anchor too"),
    ],
)
def test_a_speculators_config_that_does_not_fit(tmp_path, no_weights_read, change, says):
    source = folders.folder(tmp_path / "source", folders.SPECULATORS | change)
    (sentence,) = refused(tmp_path, source, folders.verifier(tmp_path / "verifier"))
    assert says in sentence


@pytest.mark.parametrize(
    ("verifier", "says"),
    [
        ({"hidden_size": 64}, "hidden_size is 48, and the verifier has 64"),
        ({"vocab_size": 60}, "vocab_size is 50, and the verifier has 60"),
        ({"num_hidden_layers": 8}, "num_target_layers is 4, and the verifier has 8"),
    ],
)
def test_another_verifier(tmp_path, no_weights_read, verifier, says):
    source = folders.folder(tmp_path / "source", folders.ZLAB)
    (sentence,) = refused(tmp_path, source, folders.verifier(tmp_path / "verifier", **verifier))
    assert sentence.startswith("The drafter does not fit the verifier: ") and says in sentence


def test_another_verifiers_hash(tmp_path, no_weights_read):
    source = folders.folder(tmp_path / "source", folders.ZLAB)
    (source / "card.json").write_text(json.dumps({"verifier_sha256": "a" * 64}))
    (sentence,) = refused(tmp_path, source, folders.verifier(tmp_path / "verifier"))
    assert "sha256 aaaaaaaaaaaa, which is not this one" in sentence


def test_all_mismatches_are_said_at_once(tmp_path, no_weights_read):
    changed = folders.ZLAB | {"block_size": None, "attention_bias": True, "draft_vocab_size": 32}
    assert len(refused(tmp_path, folders.folder(tmp_path / "source", changed))) == 3


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"fc.weight": torch.zeros(48, 144)}, "fc.weight has the shape [48, 144], and [48, 96] is needed."),
        ({"embed_tokens.weight": torch.zeros(60, 48)}, "embed_tokens.weight has the shape [60, 48]"),
        ({"lm_head.weight": torch.zeros(32, 48)}, "lm_head.weight has the shape [32, 48]"),
        ({"d2t": torch.zeros(32)}, "d2t has the shape [32], and [50] is needed."),
        ({"mask_embedding": torch.zeros(48)}, "an embedding of its own for the mask token (mask_embedding)"),
        ({"layers.0.self_attn.q_proj.bias": torch.zeros(48)}, "Biases, which DFlash has not: layers.0.self_attn"),
        ({"markov_head.w": torch.zeros(2)}, "Tensors that a DFlash drafter has not: markov_head.w."),
        ({"model.norm.weight": torch.zeros(48)}, "Tensors that are there twice: norm.weight."),
        ({"norm.weight": None}, "Tensors that are missing: norm.weight."),
        ({"norm.weight": torch.zeros(48, dtype=torch.int8)}, "Weights of a type that is not read"),
    ],
)
def test_tensors_that_do_not_fit(tmp_path, no_weights_read, change, says):
    changed = {name: t for name, t in (folders.weights() | change).items() if t is not None}
    (sentence,) = refused(tmp_path, folders.folder(tmp_path / "source", folders.ZLAB, changed))
    assert says in sentence


def test_ids_of_its_own(tmp_path):
    swapped = folders.weights() | {"d2t": torch.ones(50, dtype=torch.long), "t2d": torch.ones(50, dtype=torch.bool)}
    (sentence,) = refused(tmp_path, folders.folder(tmp_path / "source", folders.ZLAB, swapped))
    assert sentence == "d2t gives the draft vocabulary ids of its own, and here they are the verifier's."


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda f: (f / "model.safetensors").unlink(), "model.safetensors is missing."),
        (lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"), "unpickling can run code"),
        (lambda f: (f / "model.safetensors").rename(f / "model-00001-of-00002.safetensors"), "1 of the 2 parts"),
        (lambda f: (f / "model.safetensors").write_bytes(b"no"), "cannot be read"),
        (lambda f: (f / "config.json").unlink(), "config.json cannot be read"),
        (lambda f: (f / "config.json").write_text("[]"), "is not a JSON object"),
        (lambda f: (f / "mask_embedding.pt").touch(), "for the mask token (mask_embedding.pt)"),
        (lambda f: folders.folder(f / "other", {}, {"w": torch.ones(1)}), "weights in other/, of which"),
    ],
)
def test_files_that_are_missing_or_damaged(tmp_path, damage, says):
    source = folders.folder(tmp_path / "source", folders.ZLAB)
    damage(source)
    (sentence,) = refused(tmp_path, source)
    assert says in sentence


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def full(folder, *_, **__):
        (folder / "config.json").write_text("{}")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save", full)
    (sentence,) = refused(tmp_path, folders.folder(tmp_path / "source", folders.ZLAB), out="new/out")
    assert "No space left on device" in sentence


def test_a_folder_that_is_there_stays(tmp_path):
    source = folders.folder(tmp_path / "source", folders.ZLAB)
    (sentence,) = refused(tmp_path, source, out="source")
    assert "exists already" in sentence


def test_neither_a_folder_nor_a_hub_id(tmp_path):
    (sentence,) = refused(tmp_path, "/no/such/folder")
    assert sentence == "There is no folder /no/such/folder, and a hub id has the form owner/name."


def test_a_hub_that_cannot_be_reached(tmp_path, monkeypatch):
    def offline(*_, **__):
        raise ConnectionError("No route to host\nand more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    (sentence,) = refused(tmp_path, "nobody/nothing")
    assert sentence.endswith("it cannot be downloaded from the hub: No route to host.")


def test_on_the_command_line(tmp_path):
    def run(source):
        command = [sys.executable, "-m", "dcoco_viz", "import", str(source), "--out", str(tmp_path / "out")]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    bad = run(folders.folder(tmp_path / "bad", folders.ZLAB | {"is_causal": True}))
    assert bad.returncode == 1 and bad.stdout == "" and bad.stderr.startswith("It is causal")
    assert bad.stderr.count("\n") == 1 and not (tmp_path / "out").exists()
    good = run(folders.folder(tmp_path / "good", folders.ZLAB))
    assert good.returncode == 0 and good.stdout == f"Wrote drafter from z-lab's layout to {tmp_path / 'out'}.\n"
