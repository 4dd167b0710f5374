"""Whether this program's drafter computes what a config.json in z-lab's layout describes."""

from typing import Any

from dcoco_viz.importers.layouts import Read
from dcoco_viz.methods.dflash.model import DrafterConfig

_SHAPES = {
    "hidden_size": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "intermediate_size": "intermediate_size",
    "vocab_size": "vocab_size",
    "max_position_embeddings": "max_position_embeddings",
    "num_target_layers": "num_target_layers",
}


def misfits(read: Read) -> list[str]:
    """One plain sentence for everything that this program's drafter is not or that is missing; empty when it fits."""
    config, method = read.config, read.config["dflash_config"]
    return _missing(read, method) + _causality(config, method) + _vocabulary(config) + _network(config, method)


def drafter_config(read: Read) -> DrafterConfig:
    """The drafter's shapes, once `misfits` found nothing."""
    config, method = read.config, read.config["dflash_config"]
    return DrafterConfig(
        **{ours: int(config[theirs]) for ours, theirs in _SHAPES.items()},
        head_dim=int(config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]),
        rms_norm_eps=float(config["rms_norm_eps"]),
        rope_theta=float(_rope(config)["rope_theta"]),
        target_layer_ids=tuple(int(layer) for layer in method["target_layer_ids"]),
        mask_token_id=int(method["mask_token_id"]),
        block_size=int(_block(config)),
    )


def _missing(read: Read, method: dict[str, Any]) -> list[str]:
    config, found = read.config, []
    rope = _rope(config) | {"rms_norm_eps": config.get("rms_norm_eps")}
    positive = [(name, config.get(name), int) for name in _SHAPES.values() if name != "num_target_layers"]
    positive += [(name, rope.get(name), (int, float)) for name in ("rms_norm_eps", "rope_theta")]
    for name, value, kind in positive:
        if not isinstance(value, kind) or value <= 0:
            found.append(f"{name} in its {read.place} is {'missing' if value is None else repr(value)}.")
    if not config.get("num_target_layers"):
        found.append("It does not say how many layers its verifier has: name the verifier with --verifier.")
    lengths = {value for value in (config.get("block_size"), method.get("block_size")) if value is not None}
    if len(lengths) > 1:
        found.append(f"It names two block sizes: {config['block_size']}, and {method['block_size']} in dflash_config.")
    elif not lengths:
        found.append("It does not say how long its block is: block_size is missing.")
    elif not isinstance(_block(config), int) or _block(config) < 2:
        found.append(f"Its block_size is {_block(config)!r}; a block is an anchor and at least one slot.")
    if not isinstance(method.get("mask_token_id"), int):
        found.append("It does not say which token is its mask: mask_token_id is missing.")
    layers = method.get("target_layer_ids")
    if not layers or not all(isinstance(layer, int) for layer in layers):
        found.append("It does not say which layers of the verifier it reads: their ids are missing.")
    return found


def _causality(config: dict[str, Any], method: dict[str, Any]) -> list[str]:
    found = []
    if config.get("is_causal") or method.get("causal"):
        found.append("It is causal: no slot sees the slots after it, and in DFlash each sees the whole block.")
    if method.get("sample_from_anchor"):
        found.append("It drafts at its anchor too (sample_from_anchor), and here slots begin after the anchor.")
    if method.get("shift_label"):
        found.append("Each position drafts the token after it (shift_label), and in DFlash the token at it.")
    kinds = set(config.get("layer_types") or ()) - {"full_attention"}
    sliding = "layer_types" not in config and config.get("use_sliding_window")
    if kinds or sliding or method.get("use_swa"):
        named = ", ".join(sorted(kinds)) or "sliding_attention"
        found.append(f"It has layers of {named}, and here every layer sees the whole context and the whole block.")
    return found


def _vocabulary(config: dict[str, Any]) -> list[str]:
    found, size = [], config.get("vocab_size")
    reduced = config.get("draft_vocab_size")
    if reduced not in (None, size):
        found.append(
            f"It drafts from a reduced vocabulary of {reduced} of {size} tokens with an LM head of its own, and here "
            "slots are scored by the verifier's LM head."
        )
    other = config.get("target_hidden_size")
    if other not in (None, config.get("hidden_size")):
        found.append(
            f"Its hidden_size is {config.get('hidden_size')} and its verifier's {other}; here they are the same, since "
            "embeddings and LM head are the verifier's."
        )
    return found


def _network(config: dict[str, Any], method: dict[str, Any]) -> list[str]:
    rope = _rope(config)
    modes = set(method.get("attention_modes") or [method.get("attention_mode") or "gqa"]) - {"gqa", "mha"}
    heads, groups = config.get("num_attention_heads"), config.get("num_key_value_heads")
    rules = [
        (config.get("attention_bias"), "Its attention has biases (attention_bias), and DFlash's has none."),
        (modes, f"Its attention is of the kind {', '.join(sorted(map(str, modes)))}, and here it is grouped-query."),
        (
            heads and groups and (not isinstance(heads, int) or heads % groups),
            f"Its {heads} attention heads cannot share {groups} key and value heads evenly.",
        ),
        (
            config.get("hidden_act", "silu") != "silu",
            f"Its activation is {config.get('hidden_act')}, and here it is silu.",
        ),
        (
            rope["rope_type"] != "default",
            f"Its rotary embedding is of the type {rope['rope_type']}, and here it is default.",
        ),
        (
            rope["partial_rotary_factor"] != 1 or config.get("is_neox_style") is False,
            "Its rotary embedding turns a part of a head or pairs of neighbours, and here whole heads in two halves.",
        ),
        (
            method.get("attention_sink_bias") or config.get("add_swa_attention_sink_bias"),
            "Its attention has sinks (attention_sink_bias), and DFlash's has none.",
        ),
        (
            method.get("attention_value_scale") not in (None, 1),
            f"It scales its values by {method.get('attention_value_scale')}, and DFlash does not.",
        ),
        (
            config.get("logit_scale") not in (None, 1),
            f"It scales its logits by {config.get('logit_scale')}, and DFlash does not.",
        ),
        (
            method.get("use_aux_hidden_state") is False or config.get("use_aux_hidden_state") is False,
            "It does not read the verifier's layers (use_aux_hidden_state), and DFlash does.",
        ),
        (
            config.get("quantization_config") or config.get("compression_config"),
            "Its weights are quantised, and only float32, bfloat16 and float16 are read.",
        ),
    ]
    return [sentence for broken, sentence in rules if broken]


def _block(config: dict[str, Any]) -> Any:
    """The block size that is named, or None."""
    top = config.get("block_size")
    return config["dflash_config"].get("block_size") if top is None else top


def _rope(config: dict[str, Any]) -> dict[str, Any]:
    """Theta, type and rotated part, from either of the two places where transformers writes them."""
    inner = config.get("rope_parameters") or config.get("rope_scaling") or {}
    return {
        "rope_theta": inner.get("rope_theta", config.get("rope_theta")),
        "rope_type": inner.get("rope_type") or inner.get("type") or "default",
        "partial_rotary_factor": inner.get("partial_rotary_factor", config.get("partial_rotary_factor") or 1),
    }
