"""Checkpoints as stock vLLM loads them: config.json, model.safetensors, and a head's own KIND/model.safetensors.

The head lives in a sub-folder: beside the drafter's file it would break stock loading. Its settings are
`KIND_config` in config.json.
"""

import dataclasses
import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from dcoco_viz.lattice.confidence import FEATURES
from dcoco_viz.methods.dflash.model import Drafter, DrafterConfig
from dcoco_viz.methods.heads import KINDS, make

TOP_K = 16
ACCEPTANCE = "acceptance.json"


class CheckpointError(ValueError):
    """A checkpoint folder cannot be used; the message says why."""


def save(folder: Path, drafter: Drafter, head: torch.nn.Module | None = None, dtype=torch.bfloat16) -> None:
    """Write a drafter and its head; replaces what is there."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(_to_json(drafter.config, head, dtype), indent=2) + "\n")
    _write(folder / "model.safetensors", drafter, dtype)
    if head is not None:
        (folder / head.kind).mkdir(exist_ok=True)
        _write(folder / head.kind / "model.safetensors", head, dtype)


def load(folder: Path) -> tuple[Drafter, torch.nn.Module | None]:
    """Read a checkpoint, drafter and head, in float32.

    Raises:
        CheckpointError: a file is missing or damaged, or the weights do not fit the configuration.
    """
    folder = Path(folder)
    try:
        drafter = Drafter(_from_json(_config(folder)))
    except KeyError as error:
        raise CheckpointError(f"{folder}/config.json lacks {error}") from error
    _fill(drafter, folder / "model.safetensors")
    return drafter, load_head(folder)


def kind_of(config: dict) -> str:
    """The kind of head that a config.json names; empty where it names none."""
    return next((kind for kind in KINDS if f"{kind}_config" in config), "")


def load_head(folder: Path) -> torch.nn.Module | None:
    """The head of a checkpoint in float32; None where it has none.

    Raises:
        CheckpointError: as `load`.
    """
    raw = _config(folder)
    if not (kind := kind_of(raw)):
        return None
    try:
        head = make(kind, raw["hidden_size"], raw["vocab_size"], **raw[f"{kind}_config"])
    except KeyError as error:
        raise CheckpointError(f"{folder}/config.json lacks {error}") from error
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{folder}/config.json: {kind}_config cannot be used: {error}") from error
    _fill(head, Path(folder) / kind / "model.safetensors")
    return head


def load_acceptance(folder: Path) -> dict[str, torch.Tensor]:
    """Weights of lattice/confidence.py by method, as lab/calibrate.py fitted them; empty where it has not.

    Raises:
        CheckpointError: the file is damaged.
    """
    path = Path(folder) / ACCEPTANCE
    if not path.exists():
        return {}
    try:
        found = {method: torch.tensor(fit["weights"]) for method, fit in json.loads(path.read_text()).items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CheckpointError(f"{path} cannot be used: {error!r}; remove it or calibrate again") from error
    if wrong := [method for method, weights in found.items() if weights.shape != (len(FEATURES),)]:
        raise CheckpointError(f"{path}: {wrong[0]} needs {len(FEATURES)} weights; remove the file or calibrate again")
    return found


def _config(folder: Path) -> dict:
    try:
        return json.loads((Path(folder) / "config.json").read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{folder} is not a checkpoint: config.json cannot be read ({error})") from error


def _write(path: Path, module: torch.nn.Module, dtype: torch.dtype) -> None:
    tensors = {name: t.detach().to("cpu", dtype).contiguous() for name, t in module.state_dict().items()}
    partial = path.with_suffix(".part")
    save_file(tensors, partial, metadata={"format": "pt"})
    partial.chmod(0o644)  # safetensors writes for the owner alone
    partial.replace(path)


def _fill(module: torch.nn.Module, path: Path) -> None:
    try:
        weights = load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error
    try:
        module.load_state_dict({name: t.float() for name, t in weights.items()})
    except RuntimeError as error:
        raise CheckpointError(f"{path} does not fit its config.json: {error}") from error


def _to_json(config: DrafterConfig, head: torch.nn.Module | None, dtype: torch.dtype) -> dict:
    raw = {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "hidden_size": config.hidden_size,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "intermediate_size": config.intermediate_size,
        "vocab_size": config.vocab_size,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_theta": config.rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rope_theta},
        "max_position_embeddings": config.max_position_embeddings,
        "tie_word_embeddings": True,
        "attention_bias": False,
        "hidden_act": "silu",
        "dtype": str(dtype).removeprefix("torch."),
        "block_size": config.block_size,
        "num_target_layers": config.num_target_layers,
        "dflash_config": {
            "mask_token_id": config.mask_token_id,
            "target_layer_ids": list(config.target_layer_ids),
        },
    }
    if head is not None:
        raw[f"{head.kind}_config"] = head.settings
    return raw


def _from_json(raw: dict) -> DrafterConfig:
    names = {field.name: field.name for field in dataclasses.fields(DrafterConfig)}
    names |= {
        "layers": "num_hidden_layers",
        "heads": "num_attention_heads",
        "kv_heads": "num_key_value_heads",
    }
    inner = raw["dflash_config"]
    special = {"mask_token_id": inner["mask_token_id"], "target_layer_ids": tuple(inner["target_layer_ids"])}
    return DrafterConfig(
        **{field: raw[name] for field, name in names.items() if field not in special}, **special
    )
