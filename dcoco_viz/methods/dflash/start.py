"""Where a drafter's training starts: weights borrowed from the verifier."""

import torch

from dcoco_viz.methods.dflash.model import Drafter, DrafterConfig


def from_verifier(
    model: torch.nn.Module, layers: int, target_layer_ids: tuple[int, ...], mask_token_id: int
) -> Drafter:
    """A drafter with the verifier's last layers, whose context is the verifier's last tapped feature.

    Args:
        model: a transformers Llama- or Qwen3-style causal LM.
        layers: number of draft layers.
        target_layer_ids: z-lab ids of the tapped verifier layers.
        mask_token_id: a token that never occurs in text.
    """
    c = model.config
    drafter = Drafter(
        DrafterConfig(
            hidden_size=c.hidden_size,
            layers=layers,
            heads=c.num_attention_heads,
            kv_heads=c.num_key_value_heads,
            head_dim=getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads,
            intermediate_size=c.intermediate_size,
            vocab_size=c.vocab_size,
            rms_norm_eps=c.rms_norm_eps,
            rope_theta=c.rope_parameters["rope_theta"],
            max_position_embeddings=c.max_position_embeddings,
            num_target_layers=c.num_hidden_layers,
            target_layer_ids=tuple(target_layer_ids),
            mask_token_id=mask_token_id,
        )
    )
    with torch.no_grad():
        for mine, theirs in zip(drafter.layers, model.base_model.layers[-layers:], strict=True):
            # strict=False: a verifier without query and key norms leaves the drafter's at one
            mine.load_state_dict(theirs.state_dict(), strict=False)
        drafter.fc.weight.zero_()
        drafter.fc.weight[:, -c.hidden_size :].copy_(torch.eye(c.hidden_size))
        drafter.norm.load_state_dict(model.base_model.norm.state_dict())
    return drafter
