import json
import re

import pytest

from dcoco_viz import checkpoint

VERIFIER = {"hidden_size": 576, "num_hidden_layers": 30, "vocab_size": 49152}
CONFIG = {
    "hidden_size": 576,
    "vocab_size": 49152,
    "num_target_layers": 30,
    "max_position_embeddings": 8192,
    "dflash_config": {"mask_token_id": 4, "target_layer_ids": [1, 9, 18, 27]},
    "dcoco_config": {},
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "dcoco").mkdir()
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "dcoco" / "model.safetensors").touch()
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "card.json").write_text(json.dumps({"verifier_sha256": "a" * 64}))
    return tmp_path


def check(folder, *, head="dcoco", context=2048, hashes=frozenset({"a" * 64})):
    return checkpoint.mismatches(folder, VERIFIER, head=head, context=context, hashes=set(hashes))


def test_a_drafter_of_this_verifier_fits(folder):
    assert check(folder) == []
    (folder / "card.json").unlink()  # the public drafters have none
    assert check(folder) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"hidden_size": 4096}, "hidden_size is 4096, and the verifier has 576"),
        ({"vocab_size": 151936}, "vocab_size is 151936, and the verifier has 49152"),
        ({"num_target_layers": 36}, "num_target_layers is 36, and the verifier has 30"),
        ({"max_position_embeddings": 1024}, "built for 1024 positions, and the engine is set to 2048"),
        ({"dflash_config": {"mask_token_id": 4, "target_layer_ids": [1, 30]}}, r"layers \[1, 30\]"),
        ({"dflash_config": {"mask_token_id": 4, "target_layer_ids": []}}, r"layers \[\]"),
        ({"dflash_config": {"mask_token_id": 49152, "target_layer_ids": [1]}}, "mask token 49152"),
        ({"dflash_config": {}}, "cannot be checked: KeyError, 'target_layer_ids'"),
        ({"dflash_config": None}, "cannot be checked: TypeError"),
    ],
)
def test_each_mismatch_is_one_sentence(folder, change, says):
    (folder / "config.json").write_text(json.dumps(CONFIG | change))
    (sentence,) = check(folder)
    assert re.search(says, sentence) and sentence.endswith(".")


def test_another_verifiers_hash_is_a_mismatch(folder):
    (sentence,) = check(folder, hashes={"b" * 64})
    assert "sha256 aaaaaaaaaaaa, which is not this one" in sentence


@pytest.mark.parametrize("head", ["domino", "dspark", "selector"])
def test_another_head_lies_in_a_folder_of_its_own_and_is_named_in_the_configuration(folder, head):
    assert f"its head, {head}/model.safetensors, is missing" in check(folder, head=head)[0]
    (folder / head).mkdir()
    (folder / head / "model.safetensors").touch()
    assert f"says nothing of a {head} head" in check(folder, head=head)[0]
    (folder / "config.json").write_text(json.dumps(CONFIG | {f"{head}_config": {}}))
    assert check(folder, head=head) == []


def test_missing_and_broken_files(folder):
    (folder / "dcoco" / "model.safetensors").unlink()
    assert check(folder, head="") == []
    assert "dcoco/model.safetensors, is missing" in check(folder)[0]
    (folder / "config.json").write_text("[1]")
    assert "config.json is not a JSON object" in check(folder)[0]
    (folder / "config.json").write_text("{")
    assert "cannot be checked" in check(folder)[0]
    (folder / "model.safetensors").unlink()
    assert check(folder) == [f"There is no drafter in {folder}: model.safetensors is missing."]
