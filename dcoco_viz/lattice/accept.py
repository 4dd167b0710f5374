"""How verification consumes a drafted block."""

import torch


def accepted_length(drafted: torch.Tensor, verifier: torch.Tensor) -> torch.Tensor:
    """A(y) at T = 0: the length of the longest prefix of the block that equals the verifier's argmax tokens.

    Left to right, stop at the first error: a slot after a rejection never counts, even when it agrees.

    Args:
        drafted: [..., n] drafted token ids, in slot order.
        verifier: [..., n] the verifier's argmax at each of these slots (given the drafted tokens before it).

    Returns:
        [...] int64, each 0..n.
    """
    return (drafted == verifier).long().cumprod(-1).sum(-1)
