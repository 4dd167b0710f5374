"""The corrector: all transition scores of a drafted block in one batched operation."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from dcoco_viz.methods.block import Block, Grid


class Parts(NamedTuple):
    """What the first layer of Delta adds up, m = mlp_hidden wide. P pairs of neighbours, the anchor's first if any."""

    pair: torch.Tensor  # [R, P, m] of a pair of slots, with the bias
    left: torch.Tensor  # [R, B, K, m] of a candidate as predecessor
    right: torch.Tensor  # [R, B, K, m] of a candidate as successor
    anchor: torch.Tensor | None  # [R, 1, m] of the anchor as predecessor


class Corrector(nn.Module):
    """Scores S_p(a, b) of going from candidate a of slot p to b of slot p+1 (METHOD: "The corrector").

    The first layer of Delta is linear in its concatenated input, so its parts are computed once per slot pair
    and once per candidate; a transition only adds, activates and takes a dot product. The same function, at
    about a tenth of the arithmetic.

    Args:
        hidden_size: d of the verifier.
        rank: r, width of every projected state.
        mlp_hidden: hidden width of Delta.
        top_k: K, candidates a slot.
        anchored: slot 1 is scored too, as the successor of the anchor, which is slot 0's only candidate with
            draft logit 0 (ours; the paper leaves slot 1 to the drafter's argmax).
        pair: s_p, the state of neighbouring slots, is part of Delta's input (the paper's ablation leaves it out).
        candidate: b, the candidate's own representation, is part of its state (as above).
    """

    kind = "dcoco"

    def __init__(
        self,
        hidden_size: int,
        rank: int = 128,
        mlp_hidden: int = 256,
        top_k: int = 16,
        anchored: bool = False,
        pair: bool = True,
        candidate: bool = True,
    ):
        super().__init__()
        self.rank, self.top_k, self.anchored = rank, top_k, anchored
        self.candidate = nn.Linear(hidden_size, rank, bias=False) if candidate else None
        self.context = nn.Linear(hidden_size, rank, bias=False)
        self.fuse = nn.Linear((1 + candidate) * rank, rank, bias=False)
        self.fuse_norm = nn.LayerNorm(rank)
        self.pair = nn.Linear(2 * hidden_size, rank, bias=False) if pair else None
        self.hidden = nn.Linear((2 + pair) * rank + 2, mlp_hidden)
        self.output = nn.Linear(mlp_hidden, 1)
        # Zero output: at the start each score is the draft logit and the greedy walk is the drafter's argmax.
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    @property
    def settings(self) -> dict:
        """Arguments that make a corrector of the same shape, besides `hidden_size`."""
        made = {"rank": self.rank, "mlp_hidden": self.hidden.out_features, "top_k": self.top_k}
        told = {"anchored": self.anchored, "pair": self.pair is not None, "candidate": self.candidate is not None}
        usual = {"anchored": False, "pair": True, "candidate": True}
        return made | {name: value for name, value in told.items() if value != usual[name]}

    def forward(self, block: Block) -> Grid:
        """Score every transition. The scores have the precision of the draft logits."""
        parts = self.parts(block, self.represent(block.ids, block.embed))
        inner = parts.pair[:, 1:] if self.anchored else parts.pair
        scores = block.logits[:, 1:, None, :] + self.delta(inner, parts.left[:, :-1], parts.right[:, 1:])
        return Grid(self.first(block, parts) if self.anchored else block.logits[:, 0], scores)

    def first(self, block: Block, parts: Parts) -> torch.Tensor:
        """[R, K] S_0(anchor, b) of an anchored corrector."""
        delta = self.delta(parts.pair[:, 0], parts.anchor, parts.right[:, 0])
        return block.logits[:, 0] + delta.squeeze(-2)

    def represent(self, ids: torch.Tensor, embed) -> torch.Tensor | None:
        """b = LN(W_cand E) of tokens [...]: [..., r]. Depends on the token alone."""
        return None if self.candidate is None else F.layer_norm(self.candidate(embed(ids)), (self.rank,))

    def parts(self, block: Block, represented: torch.Tensor | None) -> Parts:
        """The parts of Delta's first layer.

        Args:
            represented: [R, B, K, r], from `represent`.
        """
        hidden = block.hidden
        left_weight, right_weight, w_pair = self._first_layer()
        left, right = self._candidates(
            hidden[:, 1:], represented, block.logits.to(hidden.dtype), left_weight, right_weight
        )
        anchor = None
        if self.anchored:
            zero = hidden.new_zeros(len(hidden), 1, 1)
            own = self.represent(block.anchor[:, None, None], block.embed)
            anchor = self._candidates(hidden[:, :1], own, zero, left_weight, right_weight)[0][:, 0]
        start = 0 if self.anchored else 1
        bias = self.hidden.bias
        if self.pair is None:
            pair = bias.expand(len(hidden), hidden.shape[1] - 1 - start, -1)
        else:
            neighbours = torch.cat([hidden[:, start:-1], hidden[:, start + 1 :]], -1)
            pair = F.linear(self.pair(neighbours), w_pair, bias)
        return Parts(pair, left, right, anchor)

    def delta(self, pair: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Delta of pair [..., m], predecessors [..., J, m] and successors [..., K, m]: [..., J, K]."""
        predecessors = left + pair.unsqueeze(-2)
        inner = F.gelu(predecessors.unsqueeze(-2) + right.unsqueeze(-3))
        # Only differences within a row count, and a row's level may grow large: not to be rounded to autocast's bf16.
        with torch.autocast(inner.device.type, enabled=False):
            return self.output(inner.to(self.output.weight.dtype)).squeeze(-1)

    def _first_layer(self) -> tuple:
        """Its weights for a predecessor, for a successor (each: state [m, r], logit [m]), and for the pair."""
        sizes = [0 if self.pair is None else self.rank, self.rank, self.rank, 1, 1]
        w_pair, w_left, w_right, l_left, l_right = self.hidden.weight.split(sizes, -1)
        return (w_left, l_left.squeeze(-1)), (w_right, l_right.squeeze(-1)), w_pair

    def _candidates(self, hidden, represented, logits, left, right) -> tuple[torch.Tensor, torch.Tensor]:
        """[R, n, K, m] of the candidates of n slots as predecessors and as successors."""
        state = F.layer_norm(self.context(hidden), (self.rank,))
        if represented is None:
            fused = self.fuse(state).unsqueeze(-2).expand(*logits.shape, -1)
        else:
            f_candidate, f_context = self.fuse.weight.split(self.rank, -1)
            fused = F.linear(represented, f_candidate) + F.linear(state, f_context).unsqueeze(-2)
        fused = self.fuse_norm(fused)
        return tuple(F.linear(fused, weight) + logits[..., None] * slope for weight, slope in (left, right))
