"""The drafter in plain PyTorch, to train and measure with; the engine runs the same weights in vLLM."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class DrafterConfig:
    """Shapes of a drafter; everything but `layers`, `block_size` and the two ids is the verifier's own."""

    hidden_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    rms_norm_eps: float
    rope_theta: float
    max_position_embeddings: int
    num_target_layers: int
    target_layer_ids: tuple[int, ...]  # z-lab ids: the hidden state AFTER this verifier layer
    mask_token_id: int
    block_size: int = 16


class Attention(nn.Module):
    """Block queries attend to the context before their anchor and to their whole block, without causality."""

    def __init__(self, config: DrafterConfig):
        super().__init__()
        d, self.head_dim, self.kv_heads = config.hidden_size, config.head_dim, config.kv_heads
        self.groups = config.heads // config.kv_heads
        self.q_proj = nn.Linear(d, config.heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(d, config.kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(d, config.kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(config.heads * self.head_dim, d, bias=False)
        self.q_norm = nn.RMSNorm(self.head_dim, config.rms_norm_eps)
        self.k_norm = nn.RMSNorm(self.head_dim, config.rms_norm_eps)

    def keys_values(self, states: torch.Tensor, rope: tuple) -> tuple[torch.Tensor, torch.Tensor]:
        """[..., n, d] -> keys (normalised, rotated) and values, each [..., kv_heads, n, head_dim]."""
        k = self.k_proj(states).unflatten(-1, (self.kv_heads, self.head_dim))
        v = self.v_proj(states).unflatten(-1, (self.kv_heads, self.head_dim))
        return rotate(self.k_norm(k).transpose(-3, -2), rope), v.transpose(-3, -2)

    def forward(
        self, x, rope, context: tuple[torch.Tensor, torch.Tensor], visible: torch.Tensor
    ) -> torch.Tensor:
        """Attend.

        Args:
            x: [S, N, L, d] normalised inputs of N blocks in each of S sequences.
            rope: cos and sin, each [S, N, 1, L, head_dim].
            context: keys and values of the context, each [S, kv_heads, T, head_dim].
            visible: [S, N, T] bool, the context positions that each block may see.
        """
        s, n, length, _ = x.shape
        q = self.q_proj(x).unflatten(-1, (self.kv_heads * self.groups, self.head_dim)).transpose(-3, -2)
        q = rotate(self.q_norm(q), rope) * self.head_dim**-0.5  # [S, N, H, L, D]
        q = q.unflatten(2, (self.kv_heads, self.groups))
        k, v = self.keys_values(x, rope)  # [S, N, KV, L, D]
        grouped = q.flatten(3, 4)  # [S, N, KV, G*L, D]
        inside = grouped @ k.transpose(-1, -2)  # [S, N, KV, G*L, L]
        spread = grouped.transpose(1, 2).flatten(2, 3)  # [S, KV, N*G*L, D]
        outside = (spread @ context[0].transpose(-1, -2)).unflatten(2, (n, -1)).transpose(1, 2)
        outside = outside.masked_fill(~visible[:, :, None, None], float("-inf"))
        weights = torch.cat([outside, inside], -1).softmax(-1)
        outside, inside = weights.split([visible.shape[-1], length], -1)
        mixed = outside.transpose(1, 2).flatten(2, 3) @ context[1]  # [S, KV, N*G*L, D]
        mixed = mixed.unflatten(2, (n, -1)).transpose(1, 2) + inside @ v
        mixed = mixed.unflatten(3, (self.groups, length)).permute(0, 1, 4, 2, 3, 5)  # [S, N, L, KV, G, D]
        return self.o_proj(mixed.flatten(3))


class Mlp(nn.Module):
    def __init__(self, config: DrafterConfig):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, config: DrafterConfig):
        super().__init__()
        self.self_attn, self.mlp = Attention(config), Mlp(config)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x, rope, context, visible) -> torch.Tensor:
        x = x + self.self_attn(self.input_layernorm(x), rope, context, visible)
        return x + self.mlp(self.post_attention_layernorm(x))


class Drafter(nn.Module):
    """Weights of one DFlash drafter. Embedding and LM head are the verifier's and are not part of it."""

    def __init__(self, config: DrafterConfig):
        super().__init__()
        self.config = config
        d = config.hidden_size
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.fc = nn.Linear(len(config.target_layer_ids) * d, d, bias=False)
        self.hidden_norm = nn.RMSNorm(d, config.rms_norm_eps)
        self.norm = nn.RMSNorm(d, config.rms_norm_eps)
        inverse = config.rope_theta ** (-torch.arange(0, config.head_dim, 2).float() / config.head_dim)
        self.register_buffer("inverse", inverse, persistent=False)

    def context(self, features: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Keys and values that verifier features put into each layer.

        Args:
            features: [S, T, layers * d] hidden states of the verifier at positions 0..T-1.

        Returns:
            per draft layer, keys and values [S, kv_heads, T, head_dim]; the layer's input norm is skipped.
        """
        states = self.hidden_norm(self.fc(features))
        rope = self._rope(torch.arange(features.shape[1], device=features.device))
        return [layer.self_attn.keys_values(states, rope) for layer in self.layers]

    def forward(self, embeddings: torch.Tensor, anchors: torch.Tensor, context: list) -> torch.Tensor:
        """Hidden states of drafted blocks.

        Args:
            embeddings: [S, N, L, d] verifier embeddings of [anchor, mask, mask, ...], N blocks a sequence.
            anchors: [S, N] position of each block's anchor; the block sees context positions before it.
            context: what `context` returned.

        Returns:
            [S, N, L, d] after the final norm; row 0 is the anchor's, rows 1.. are the slots (METHOD's h_i).
        """
        length, total = embeddings.shape[2], context[0][0].shape[2]
        steps = torch.arange(length, device=anchors.device)
        rope = tuple(part[:, :, None] for part in self._rope(anchors[..., None] + steps))
        visible = torch.arange(total, device=anchors.device) < anchors[..., None]
        x = embeddings
        for layer, pair in zip(self.layers, context, strict=True):
            x = layer(x, rope, pair, visible)
        return self.norm(x)

    def _rope(self, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        angles = positions[..., None].float() * self.inverse
        angles = torch.cat([angles, angles], -1)
        dtype = self.fc.weight.dtype
        return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate(x: torch.Tensor, rope: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Rotary position embedding in the half-split ("neox") layout; cos and sin broadcast over x's heads."""
    left, right = x.chunk(2, -1)
    return x * rope[0] + torch.cat([-right, left], -1) * rope[1]
