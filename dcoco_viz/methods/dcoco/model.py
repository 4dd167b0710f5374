"""The corrector: all (B-1) K^2 transition scores of a drafted block in one batched operation."""

import torch
import torch.nn.functional as F
from torch import nn


class Corrector(nn.Module):
    """Scores S_p(a, b) of going from candidate a of slot p to b of slot p+1 (METHOD: "The corrector").

    The first layer of Delta is linear in its concatenated input, so its parts are computed once per slot pair
    and once per candidate; a transition only adds, activates and takes a dot product. The same function, at
    about a tenth of the arithmetic.

    Args:
        hidden_size: d of the verifier.
        rank: r, width of every projected state.
        mlp_hidden: hidden width of Delta.
    """

    def __init__(self, hidden_size: int, rank: int = 128, mlp_hidden: int = 256):
        super().__init__()
        self.rank = rank
        self.candidate = nn.Linear(hidden_size, rank, bias=False)
        self.context = nn.Linear(hidden_size, rank, bias=False)
        self.fuse = nn.Linear(2 * rank, rank, bias=False)
        self.fuse_norm = nn.LayerNorm(rank)
        self.pair = nn.Linear(2 * hidden_size, rank, bias=False)
        self.hidden = nn.Linear(3 * rank + 2, mlp_hidden)
        self.output = nn.Linear(mlp_hidden, 1)
        # Zero output: at the start each score is the draft logit and the greedy walk is the drafter's argmax.
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(self, hidden: torch.Tensor, embeddings: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        """Score every transition.

        Args:
            hidden: [R, B, d] drafter outputs h_1..h_B.
            embeddings: [R, B, K, d] verifier embeddings of the candidates.
            logits: [R, B, K] draft logits of the candidates.

        Returns:
            [R, B-1, K, K] scores; entry (p, a, b) is S_{p+1}(a, b), rows are predecessors.
        """
        pair, left, right = self.parts(hidden, self.represent(embeddings), logits)
        return logits[:, 1:, None, :] + self.delta(pair, left[:, :-1], right[:, 1:])

    def represent(self, embeddings: torch.Tensor) -> torch.Tensor:
        """b = LN(W_cand E): [..., d] -> [..., r]. Depends on the token alone."""
        return F.layer_norm(self.candidate(embeddings), (self.rank,))

    def parts(self, hidden: torch.Tensor, represented: torch.Tensor, logits: torch.Tensor) -> tuple:
        """What the first layer of Delta adds up.

        Args:
            hidden: [R, B, d].
            represented: [R, B, K, r], from `represent`.
            logits: [R, B, K].

        Returns:
            pair [R, B-1, m] with the bias, left and right [R, B, K, m] of a candidate as predecessor and as
            successor; m = mlp_hidden.
        """
        w_pair, w_left, w_right, l_left, l_right = self.hidden.weight.split([self.rank] * 3 + [1, 1], -1)
        f_candidate, f_context = self.fuse.weight.split(self.rank, -1)
        state = F.layer_norm(self.context(hidden), (self.rank,))
        fused = F.linear(represented, f_candidate) + F.linear(state, f_context).unsqueeze(-2)
        fused = self.fuse_norm(fused)
        neighbours = self.pair(torch.cat([hidden[:, :-1], hidden[:, 1:]], -1))
        left = F.linear(fused, w_left) + logits[..., None] * l_left.squeeze(-1)
        right = F.linear(fused, w_right) + logits[..., None] * l_right.squeeze(-1)
        return F.linear(neighbours, w_pair, self.hidden.bias), left, right

    def delta(self, pair: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Delta of pair [..., m], predecessors [..., K, m] and successors [..., K, m]: [..., K, K]."""
        predecessors = left + pair.unsqueeze(-2)
        return self.output(F.gelu(predecessors.unsqueeze(-2) + right.unsqueeze(-3))).squeeze(-1)
