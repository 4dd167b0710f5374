"""Checkpoints as stock vLLM loads them: config.json, model.safetensors, dcoco/model.safetensors.

The corrector lives in a sub-folder: beside the drafter's file it would break stock loading.
"""

import dataclasses
import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from dcoco_viz.methods.dcoco.model import Corrector
from dcoco_viz.methods.dflash.model import Drafter, DrafterConfig

TOP_K = 16


class CheckpointError(ValueError):
    """A checkpoint folder cannot be used; the message says why."""


def save(folder: Path, drafter: Drafter, corrector: Corrector | None = None, dtype=torch.bfloat16) -> None:
    """Write drafter and corrector; replaces what is there."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(
        json.dumps(_to_json(drafter.config, corrector, dtype), indent=2) + "\n"
    )
    _write(folder / "model.safetensors", drafter, dtype)
    if corrector is not None:
        (folder / "dcoco").mkdir(exist_ok=True)
        _write(folder / "dcoco" / "model.safetensors", corrector, dtype)


def load(folder: Path) -> tuple[Drafter, Corrector | None]:
    """Read a checkpoint in float32.

    Raises:
        CheckpointError: a file is missing or damaged, or the weights do not fit the configuration.
    """
    folder = Path(folder)
    try:
        drafter = Drafter(_from_json(_config(folder)))
    except KeyError as error:
        raise CheckpointError(f"{folder}/config.json lacks {error}") from error
    _fill(drafter, folder / "model.safetensors")
    return drafter, load_corrector(folder)


def load_corrector(folder: Path) -> Corrector | None:
    """The corrector of a checkpoint in float32; None where it has none.

    Raises:
        CheckpointError: as `load`.
    """
    raw = _config(folder)
    if "dcoco_config" not in raw:
        return None
    try:
        head = raw["dcoco_config"]
        corrector = Corrector(raw["hidden_size"], head["rank"], head["mlp_hidden"])
    except KeyError as error:
        raise CheckpointError(f"{folder}/config.json lacks {error}") from error
    _fill(corrector, Path(folder) / "dcoco" / "model.safetensors")
    return corrector


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


def _to_json(config: DrafterConfig, corrector: Corrector | None, dtype: torch.dtype) -> dict:
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
    if corrector is not None:
        hidden = corrector.hidden.out_features
        raw["dcoco_config"] = {"rank": corrector.rank, "mlp_hidden": hidden, "top_k": TOP_K}
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
