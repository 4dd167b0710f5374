"""The selector: transition scores from two codebooks, one of tokens that go before and one of those that follow."""

import torch
from torch import nn

from dcoco_viz.methods.block import Block, Grid


class Selector(nn.Module):
    """S_p(a, b) = l_{p+1}(b) + <W h_{p+1}, v_b> (unary) + <u_a, v_b> (bilinear); slot 1 is the draft's argmax.

    Args:
        hidden_size: d of the verifier.
        vocab_size: V; both codebooks have a row for every token.
        rank: width of a codebook. The public selector's 256 would make it larger than the drafter here.
        top_k: K, candidates a slot.
    """

    kind = "selector"
    anchored = False

    def __init__(self, hidden_size: int, vocab_size: int, rank: int = 32, top_k: int = 16):
        super().__init__()
        self.top_k = top_k
        self.before = nn.Embedding(vocab_size, rank)
        self.after = nn.Embedding(vocab_size, rank)
        self.state = nn.Linear(hidden_size, rank, bias=False)
        nn.init.normal_(self.before.weight, std=rank**-0.5)
        nn.init.zeros_(self.after.weight)  # at the start each score is the draft logit

    @property
    def settings(self) -> dict:
        """Arguments that make a selector of the same shape, besides `hidden_size` and `vocab_size`."""
        return {"rank": self.after.embedding_dim, "top_k": self.top_k}

    def forward(self, block: Block) -> Grid:
        """Score every transition."""
        return Grid(block.logits[:, 0], self.scores(block))

    def scores(self, block: Block) -> torch.Tensor:
        """[R, B-1, K, K] in the precision of the draft logits."""
        after = self.after(block.ids[:, 1:])
        lead = self.before(block.ids[:, :-1]) + self.state(block.hidden[:, 2:]).unsqueeze(-2)
        return block.logits[:, 1:, None, :] + lead @ after.transpose(-1, -2)
