"""The drafter against an independent, slow formulation, and what its blocks may see."""

import pytest
import torch
import torch.nn.functional as F
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from dcoco_viz.methods.dflash.model import Drafter, DrafterConfig

CONFIG = DrafterConfig(
    hidden_size=48, layers=2, heads=6, kv_heads=2, head_dim=8, intermediate_size=64, vocab_size=50,
    rms_norm_eps=1e-5,
    rope_theta=1e4, max_position_embeddings=64, num_target_layers=4, target_layer_ids=(0, 2),
    mask_token_id=1,
)  # fmt: skip


@pytest.fixture
def drafter():
    torch.manual_seed(0)
    model = Drafter(CONFIG)
    for p in model.parameters():
        torch.nn.init.normal_(p, mean=float(p.ndim == 1), std=0.2)
    return model.requires_grad_(False)


def _slow(drafter: Drafter, features, embeddings, anchor):
    """One block, one sequence: concatenated keys, torch's attention, transformers' rotary embedding."""
    states, x = drafter.hidden_norm(drafter.fc(features[:anchor])), embeddings
    for layer in drafter.layers:
        attention, normed = layer.self_attn, layer.input_layernorm(x)
        positions = torch.arange(anchor + len(x))
        angles = positions[:, None] / CONFIG.rope_theta ** (torch.arange(0, 8, 2) / 8)
        angles = torch.cat([angles, angles], -1)[None]
        keys = torch.cat([states, normed])
        q = attention.q_norm(attention.q_proj(normed).view(len(x), 6, 8)).transpose(0, 1)
        k = attention.k_norm(attention.k_proj(keys).view(-1, 2, 8)).transpose(0, 1)
        v = attention.v_proj(keys).view(-1, 2, 8).transpose(0, 1)
        padded = torch.cat([torch.zeros(6, anchor, 8), q], 1)
        q, k = apply_rotary_pos_emb(padded[None], k[None], angles.cos(), angles.sin())
        mixed = F.scaled_dot_product_attention(q[:, :, anchor:], k, v[None], enable_gqa=True)
        x = x + attention.o_proj(mixed[0].transpose(0, 1).flatten(1))
        x = x + layer.mlp(layer.post_attention_layernorm(x))
    return drafter.norm(x)


def test_equals_the_slow_formulation(drafter):
    features, embeddings, anchors = (
        torch.randn(2, 20, 96),
        torch.randn(2, 3, 5, 48),
        torch.tensor([[4, 9, 19], [1, 7, 8]]),
    )
    fast = drafter(embeddings, anchors, drafter.context(features))
    for s in range(2):
        for n in range(3):
            slow = _slow(drafter, features[s], embeddings[s, n], int(anchors[s, n]))
            torch.testing.assert_close(fast[s, n], slow, atol=1e-4, rtol=1e-4)


def test_a_block_sees_the_context_before_its_anchor_and_nothing_after(drafter):
    features, embeddings, anchors = torch.randn(1, 20, 96), torch.randn(1, 1, 4, 48), torch.tensor([[8]])
    base = drafter(embeddings, anchors, drafter.context(features))
    later, earlier = features.clone(), features.clone()
    later[:, 8:] += 1
    earlier[:, 7] += 1
    assert torch.equal(base, drafter(embeddings, anchors, drafter.context(later)))
    assert not torch.allclose(base, drafter(embeddings, anchors, drafter.context(earlier)))


def test_slots_see_each_other_both_ways_but_not_other_blocks(drafter):
    features, embeddings, anchors = torch.randn(1, 20, 96), torch.randn(1, 2, 4, 48), torch.tensor([[8, 12]])
    context = drafter.context(features)
    base = drafter(embeddings, anchors, context)
    embeddings[:, 0, 3] += 1
    changed = drafter(embeddings, anchors, context)
    assert not torch.allclose(base[:, 0, 0], changed[:, 0, 0])
    assert torch.equal(base[:, 1], changed[:, 1])
