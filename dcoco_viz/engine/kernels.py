"""One CPU kernel of vLLM 0.32.0 put right, through the registry that vLLM has for such replacements.

`expand_kernel` gives every drafted token its request's temperature. The CPU build's version writes into an int64
copy and leaves the float tensor that the caller reads uninitialised, so that above T = 0 the verifier's logits are
divided by whatever lay in memory: sampling with speculation is then neither lossless nor repeatable.
"""

import torch
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


def register() -> None:
    """Put `expand` in place of vLLM's CPU version; where Triton runs, its own kernel is right."""
    if current_platform.is_cpu() and not HAS_TRITON:
        register_kernels({"vllm.v1.sample.rejection_sampler.expand_kernel": expand})
