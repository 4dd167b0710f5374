"""The DSpark head: a bias on each slot's logits from the token before it, one slot after the other."""

import torch
from torch import nn

from dcoco_viz.methods.block import Block, Chosen

VARIANTS = ("vanilla", "gated", "rnn")


class Markov(nn.Module):
    """l'_i(v) = l_i(v) + <m_i, w_v>; m_i comes from the token before slot i, the anchor for slot 1.

    vanilla: m_i = u[y_{i-1}]; gated: that times sigmoid(G h_i); rnn: that plus tanh(R m_{i-1}).
    The confidence head reads [h_i ; m_i] and tells how probable it is that the verifier accepts the slot, given the
    slots before it. In a block only the K candidates of every slot are corrected (ours), so that all heads choose
    from one pool; training corrects the whole loss vocabulary.

    Args:
        hidden_size: d of the verifier.
        vocab_size: V, rows of the tables u and w.
        rank: width of the tables.
        variant: one of VARIANTS.
        top_k: K, candidates a slot.
    """

    kind = "dspark"

    def __init__(
        self, hidden_size: int, vocab_size: int, rank: int = 32, variant: str = "vanilla", top_k: int = 16
    ):
        super().__init__()
        if variant not in VARIANTS:
            raise ValueError(f"there is no DSpark variant {variant!r}: choose one of {', '.join(VARIANTS)}")
        self.top_k, self.variant = top_k, variant
        self.before = nn.Embedding(vocab_size, rank)
        self.after = nn.Embedding(vocab_size, rank)
        self.confidence = nn.Linear(hidden_size + rank, 1)
        self.gate = nn.Linear(hidden_size, rank) if variant == "gated" else None
        self.carry = nn.Linear(rank, rank, bias=False) if variant == "rnn" else None
        nn.init.normal_(self.before.weight, std=rank**-0.5)
        nn.init.zeros_(self.after.weight)  # at the start the logits stay as they are

    @property
    def settings(self) -> dict:
        """Arguments that make a head of the same shape, besides `hidden_size` and `vocab_size`."""
        return {"rank": self.after.embedding_dim, "variant": self.variant, "top_k": self.top_k}

    def forward(self, block: Block) -> Chosen:
        """Choose a path."""
        token, markov, ranks, rows, sure = block.anchor, None, [], [], []
        for slot in range(block.ids.shape[1]):
            ids, hidden = block.ids[:, slot], block.hidden[:, slot + 1]
            markov = self.markov(token, hidden, markov)
            rows.append(block.logits[:, slot] + (self.after(ids) @ markov.unsqueeze(-1)).squeeze(-1))
            sure.append(self.certainty(hidden, markov))
            ranks.append(rows[-1].argmax(-1))
            token = ids.gather(-1, ranks[-1][:, None]).squeeze(-1)
        return Chosen(torch.stack(ranks, 1), torch.stack(rows, 1), torch.stack(sure, 1).sigmoid())

    def markov(self, token: torch.Tensor, hidden: torch.Tensor, last: torch.Tensor | None) -> torch.Tensor:
        """m_i [..., rank] from the token before the slot [...], its h_i [..., d] and m_{i-1}, None at slot 1."""
        found = self.before(token)
        if self.gate is not None:
            return found * self.gate(hidden).sigmoid()
        if self.carry is not None and last is not None:
            return found + self.carry(last).tanh()
        return found

    def certainty(self, hidden: torch.Tensor, markov: torch.Tensor) -> torch.Tensor:
        """[...] logit of the probability that the slot is accepted."""
        return self.confidence(torch.cat([hidden, markov], -1)).squeeze(-1)
