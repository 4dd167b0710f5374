"""Tiny drafters as other people write them: the same weights in each layout, and a verifier that they fit."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from dcoco_viz.methods.dflash.model import Drafter
from tests.unit.methods.test_drafter import CONFIG

NETWORK = {
    "model_type": "qwen3", "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 6,
    "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 64, "vocab_size": 50, "rms_norm_eps": 1e-5,
    "max_position_embeddings": 64, "attention_bias": False, "hidden_act": "silu", "tie_word_embeddings": False,
    "layer_types": ["full_attention"] * 2, "sliding_window": None, "use_sliding_window": False,
}  # fmt: skip
ZLAB = NETWORK | {
    "architectures": ["DFlashDraftModel"], "auto_map": {"AutoModel": "dflash.DFlashDraftModel"},
    "rope_theta": 10000.0, "rope_scaling": None, "block_size": 16, "num_target_layers": 4, "dtype": "bfloat16",
    "dflash_config": {"mask_token_id": 1, "target_layer_ids": [0, 2]},
}  # fmt: skip
SPECFORGE = ZLAB | {"num_target_layers": 6, "dflash_config": {"mask_token_id": 1, "projector_type": "dflash"}}
SPECULATORS = {
    "architectures": ["DFlashSpeculator"], "speculators_model_type": "dflash", "speculators_version": "0.6.0",
    "aux_hidden_state_layer_ids": [1, 3], "block_size": 16, "draft_vocab_size": 50, "mask_token_id": 1,
    "sample_from_anchor": False, "sliding_window_non_causal": False, "target_hidden_size": None,
    "speculators_config": {
        "algorithm": "dflash",
        "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 15}],
        "verifier": {"name_or_path": "someone/tiny", "architectures": ["LlamaForCausalLM"]},
    },
    "transformer_layer_config": NETWORK | {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
}  # fmt: skip
LAYOUTS = {"z-lab": ZLAB, "SpecForge": SPECFORGE, "speculators": SPECULATORS}


def weights() -> dict[str, torch.Tensor]:
    """A drafter's tensors in bfloat16, all of them far from what a fresh one holds."""
    torch.manual_seed(7)
    model = Drafter(CONFIG)
    for p in model.parameters():
        torch.nn.init.normal_(p, mean=float(p.ndim == 1), std=0.2)
    return {name: tensor.detach().bfloat16() for name, tensor in model.state_dict().items()}


def folder(place: Path, config: dict, tensors: dict[str, torch.Tensor] | None = None) -> Path:
    """Write a drafter's config.json and model.safetensors."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.json").write_text(json.dumps(config))
    save_file(weights() if tensors is None else tensors, place / "model.safetensors")
    return place


def verifier(place: Path, **changes) -> Path:
    """A verifier's folder with 4 layers, whose embedding is its LM head too."""
    config = {"hidden_size": 48, "num_hidden_layers": 4, "vocab_size": 50, "tie_word_embeddings": True} | changes
    return folder(place, config, {"model.embed_tokens.weight": embedding(), "model.norm.weight": torch.ones(48)})


def embedding() -> torch.Tensor:
    return torch.arange(50 * 48.0).reshape(50, 48).bfloat16()
