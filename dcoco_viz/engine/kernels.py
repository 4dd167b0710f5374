"""Two faults of vLLM 0.32.0's CPU build put right. Neither shows in the text; both were found by measuring.

`expand_kernel` gives every drafted token its request's temperature. The CPU build's version writes into an int64
copy and leaves the float tensor that the caller reads uninitialised, so that above T = 0 the verifier's logits are
divided by whatever lay in memory: sampling with speculation is then neither lossless nor repeatable. vLLM's own
registry takes the replacement.

`rms_norm` with a weight for each group normalises every group with the first one's. The DFlash drafter hands it the
context's keys of all its layers at once, so that every layer but the first read a context it was not trained for.
"""

import torch
from vllm import _custom_ops as ops
from vllm.model_executor.models.qwen3_dflash import DFlashQwen3Model
from vllm.platforms import current_platform
from vllm.triton_utils import HAS_TRITON
from vllm.triton_utils.dispatcher import register_kernels


def expand(
    output: torch.Tensor,
    values: torch.Tensor,
    cumulative: torch.Tensor,
    replace_from: float,
    replace_to: float,
    MAX_NUM_TOKENS: int | None = None,
) -> None:
    """Repeat each request's value once for each of its tokens.

    Args:
        output: [tokens], written.
        values: [requests].
        cumulative: [requests] tokens up to and with each request.
        replace_from: a value that is replaced on the way ...
        replace_to: ... by this one.
        MAX_NUM_TOKENS: part of the kernel's signature; not needed here.
    """
    counts = torch.diff(cumulative, prepend=cumulative.new_zeros(1))
    values = torch.where(values == replace_from, torch.as_tensor(replace_to, dtype=values.dtype), values)
    output.copy_(torch.repeat_interleave(values, counts))


def normalise_keys(drafter: DFlashQwen3Model, keys: torch.Tensor) -> torch.Tensor:
    """RMS-normalise each layer's keys of the context with that layer's own weight.

    Args:
        keys: [layers, tokens, KV heads, head dimension], contiguous.

    Returns:
        The same shape.
    """
    normed = torch.empty_like(keys)
    for own, out, weight in zip(keys, normed, drafter._k_norm_weights, strict=True):
        ops.rms_norm(out, own, weight, drafter._rms_norm_eps)
    return normed


def register() -> None:
    """Put both in place of vLLM's CPU versions; where Triton runs, and on a GPU, its own are right."""
    if current_platform.is_cpu() and not HAS_TRITON:
        register_kernels({"vllm.v1.sample.rejection_sampler.expand_kernel": expand})
    if current_platform.is_cpu():
        DFlashQwen3Model._normalize_context_k = normalise_keys
