"""Muon for the draft layers' matrices, AdamW for everything else, and one learning-rate schedule for both."""

import math
from collections.abc import Callable, Iterable

import torch
from torch import nn


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised by four Newton-Schulz steps (Jordan et al., 2024), on 2-D weights.

    torch.optim.Muon always iterates in bfloat16, eight times slower than float32 on a CPU without bfloat16
    units; here the iteration runs in float32 on a CPU, and `map` may spread the matrices over threads.

    Args:
        map: like the built-in `map`.
    """

    def __init__(self, params: Iterable[nn.Parameter], lr: float, momentum: float = 0.95, map: Callable = map):
        super().__init__(params, {"lr": lr, "momentum": momentum})
        self._map = map

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            updates = []
            for p in group["params"]:
                buffer = self.state[p].setdefault("momentum", torch.zeros_like(p))
                buffer.lerp_(p.grad, 1 - group["momentum"])
                updates.append(p.grad.lerp(buffer, group["momentum"]))
            for p, update in zip(group["params"], self._map(orthogonalise, updates), strict=True):
                p.add_(update, alpha=-group["lr"] * math.sqrt(max(1.0, p.shape[0] / p.shape[1])))


@torch.no_grad()
def orthogonalise(matrix: torch.Tensor, steps: int = 4) -> torch.Tensor:
    """[m, n] -> the same singular vectors with all singular values near 1."""
    a, b, c = 3.4445, -4.775, 2.0315
    x = matrix.bfloat16() if matrix.is_cuda else matrix
    x = x.T if matrix.shape[0] > matrix.shape[1] else x
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x.T if matrix.shape[0] > matrix.shape[1] else x).to(matrix.dtype)


def optimizers(
    drafter: nn.Module | None, head: nn.Module | None, muon: float, adam: float, head_lr: float, map: Callable
) -> list:
    """Over the weights that learn: Muon and AdamW, or AdamW alone, for a drafter, AdamW for a head.

    Args:
        drafter: None where it is frozen.
        muon: peak learning rate of the draft layers' matrices; 0: AdamW has them too. Every group keeps its own
            as `peak`.
        adam: that of the drafter's other weights.
        head_lr: that of the head.
    """
    made, groups = [], []
    if drafter is not None:
        matrices = [p for p in drafter.layers.parameters() if p.ndim == 2] if muon else []
        taken = {id(p) for p in matrices}
        if matrices:
            made.append(Muon(matrices, muon, map=map))
        groups.append({"params": [p for p in drafter.parameters() if id(p) not in taken], "lr": adam})
    if head is not None:
        groups.append({"params": list(head.parameters()), "lr": head_lr, "late": True})
    made.append(torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.0))
    for group in (g for optimizer in made for g in optimizer.param_groups):
        group["peak"] = group["lr"]
        group.setdefault("late", False)  # first learns in the branch stage
    return made


def factor(step: int, shared: int, total: int, warmup: int, late: bool = False) -> float:
    """Share of the peak learning rate: linear warm-up, constant through the shared stage, cosine to zero.

    Args:
        late: of weights that first learn after the shared stage, and warm up there.
    """
    rise = min(1.0, (step - late * shared + 1) / warmup) if warmup else 1.0
    if step < shared:
        return rise
    return rise * 0.5 * (1 + math.cos(math.pi * (step - shared + 1) / (total - shared + 1)))
