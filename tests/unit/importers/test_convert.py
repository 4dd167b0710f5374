"""An imported drafter computes what its source's weights compute, and its card says where it came from."""

import json
from dataclasses import replace

import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file, save_file

from dcoco_viz.importers import convert, layouts
from dcoco_viz.methods import checkpoint
from dcoco_viz.methods.dcoco.model import Corrector
from dcoco_viz.methods.dflash.model import Drafter
from dcoco_viz.verifier import sha256
from tests.unit.importers import folders
from tests.unit.methods.test_drafter import CONFIG


def hidden_states(drafter: Drafter) -> torch.Tensor:
    rng = torch.Generator().manual_seed(3)
    features = torch.randn(1, 20, len(drafter.config.target_layer_ids) * 48, generator=rng)
    blocks = torch.randn(1, 2, 16, 48, generator=rng)
    with torch.no_grad():
        return drafter(blocks, torch.tensor([[5, 12]]), drafter.context(features))


def by_hand(config) -> Drafter:
    drafter = Drafter(config)
    drafter.load_state_dict({name: tensor.float() for name, tensor in folders.weights().items()})
    return drafter


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        ("z-lab", CONFIG),
        ("SpecForge", replace(CONFIG, num_target_layers=6, target_layer_ids=(1, 3))),
        ("speculators", CONFIG),
    ],
)
def test_each_layout_gives_the_hidden_states_of_its_weights(tmp_path, layout, shape):
    source = folders.folder(tmp_path / "source", folders.LAYOUTS[layout])
    verifier = folders.verifier(tmp_path / "verifier", num_hidden_layers=shape.num_target_layers)
    done = convert.run(str(source), tmp_path / "out", str(verifier))
    assert (done.layout, done.head) == (layout, "")
    drafter, corrector = checkpoint.load(tmp_path / "out")
    assert corrector is None and drafter.config == shape
    assert torch.equal(hidden_states(drafter), hidden_states(by_hand(shape)))
    assert {t.dtype for t in load_file(tmp_path / "out" / "model.safetensors").values()} == {torch.bfloat16}
    raw = json.loads((tmp_path / "out" / "config.json").read_text())
    assert raw["architectures"] == ["DFlashDraftModel"]
    assert raw["dflash_config"] == {"mask_token_id": 1, "target_layer_ids": list(shape.target_layer_ids)}


def test_layer_ids_are_converted_and_said(tmp_path):
    source = folders.folder(tmp_path / "source", folders.SPECULATORS)
    done = convert.run(str(source), tmp_path / "out", str(folders.verifier(tmp_path / "verifier")))
    assert "Layer ids [1, 3] count the states before a layer; they are [0, 2] here" in done.notes[0]
    source = folders.folder(tmp_path / "other", folders.SPECFORGE)
    assert "it reads [1, 3]" in convert.run(str(source), tmp_path / "too").notes[0]


def test_the_card_says_where_it_came_from(tmp_path):
    source = folders.folder(tmp_path / "source", folders.SPECULATORS)
    done = convert.run(str(source), tmp_path / "out", str(folders.verifier(tmp_path / "verifier")))
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["checkpoint"] == "dflash" and card["target_layer_ids"] == [0, 2]
    said = card["imported"]
    assert said["from"] == str(source) and said["layout"] == "speculators" and said["notes"] == done.notes
    assert said["verifier"] == "someone/tiny" and said["checked_against"] == str(tmp_path / "verifier")
    assert said["sha256"]["model.safetensors"] == sha256(source / "model.safetensors")
    assert not list(tmp_path.glob(".out*"))


def test_a_corrector_comes_along_and_the_card_stays(tmp_path):
    torch.manual_seed(0)
    corrector = Corrector(48, rank=8, mlp_hidden=16)
    checkpoint.save(tmp_path / "source", by_hand(CONFIG), corrector)
    (tmp_path / "source" / "card.json").write_text(json.dumps({"held_out_tau": 1.5}))
    assert convert.run(str(tmp_path / "source"), tmp_path / "out").head == "dcoco"
    for name in ("model.safetensors", "dcoco/model.safetensors"):
        before, after = load_file(tmp_path / "source" / name), load_file(tmp_path / "out" / name)
        assert before.keys() == after.keys() and all(torch.equal(before[key], after[key]) for key in before)
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["held_out_tau"] == 1.5 and card["checkpoint"] == "dcoco"


def test_weights_in_parts_and_with_prefixes(tmp_path):
    source = folders.folder(tmp_path / "source", folders.ZLAB)
    (source / "model.safetensors").unlink()
    tensors = sorted(folders.weights().items())
    for part, items in enumerate((tensors[:9], tensors[9:]), 1):
        save_file({f"model.{k}": t for k, t in items}, source / f"model-0000{part}-of-00002.safetensors")
    convert.run(str(source), tmp_path / "out")
    assert torch.equal(hidden_states(checkpoint.load(tmp_path / "out")[0]), hidden_states(by_hand(CONFIG)))


def test_what_belongs_to_the_verifier_is_left_out_and_said(tmp_path):
    maps = {"d2t": torch.zeros(50, dtype=torch.long), "t2d": torch.ones(50, dtype=torch.bool)}
    own = {"embed_tokens.weight": folders.embedding(), "lm_head.weight": folders.embedding() * 2}
    computed = {"rotary_emb.inv_freq": torch.ones(4), "verifier_norm.weight": torch.ones(48)}
    tensors = folders.weights() | maps | own | computed
    source = folders.folder(tmp_path / "source", folders.SPECULATORS, tensors)
    notes = convert.run(str(source), tmp_path / "out", str(folders.verifier(tmp_path / "verifier"))).notes
    assert "embed_tokens.weight is left out and the verifier's is used; the two are equal." in notes
    assert any(note.startswith("lm_head.weight is left out") and "differ by 100.00%" in note for note in notes)
    assert load_file(tmp_path / "out" / "model.safetensors").keys() == folders.weights().keys()
    source = folders.folder(tmp_path / "other", folders.ZLAB, folders.weights() | own)
    alone = convert.run(str(source), tmp_path / "too").notes
    assert len(alone) == 2 and all("the two were not compared" in note for note in alone)


def test_mixed_precision_is_kept_in_the_wider_one(tmp_path):
    tensors = folders.weights() | {"norm.weight": torch.full((48,), 1.1)}
    convert.run(str(folders.folder(tmp_path / "source", folders.ZLAB, tensors)), tmp_path / "a" / "b")
    written = load_file(tmp_path / "a" / "b" / "model.safetensors")
    assert written["norm.weight"][0] == torch.tensor(1.1) and written["fc.weight"].dtype == torch.float32


def test_from_the_hub_at_one_revision(tmp_path, monkeypatch):
    asked = []

    def download(name, revision, allow_patterns):
        asked.append((name, revision, "*.safetensors" in allow_patterns))
        return str(folders.folder(tmp_path / "cache" / "abc123", folders.ZLAB))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    convert.run("someone/tiny-DFlash", tmp_path / "out")
    assert asked == [("someone/tiny-DFlash", None, False), ("someone/tiny-DFlash", "abc123", True)]
    said = json.loads((tmp_path / "out" / "card.json").read_text())["imported"]
    assert (said["from"], said["revision"]) == ("someone/tiny-DFlash", "abc123")


@pytest.mark.parametrize(
    ("verifier", "draft", "ids"),
    [(36, 5, [1, 9, 17, 25, 33]), (40, 5, [1, 10, 19, 28, 37]), (28, 3, [1, 13, 25]), (30, 1, [15])],
)
def test_specforges_rule_for_a_config_without_layers(verifier, draft, ids):
    assert layouts.spread(verifier, draft) == ids
