"""The Domino head: each slot's logits are corrected by what was chosen before it, one slot after the other."""

import torch
import torch.nn.functional as F
from torch import nn

from dcoco_viz.methods.block import Block, Chosen


class Domino(nn.Module):
    """l'_i(v) = l_i(v) + <silu(W [h_i ; s_{i-1}]), u_v>, s a GRU over the embeddings of anchor and chosen tokens.

    Slot 1 is the draft's argmax, as in the public implementation. In a block only the K candidates of every slot
    are corrected (ours), so that all heads choose from one pool; training corrects the whole loss vocabulary.

    Args:
        hidden_size: d of the verifier.
        vocab_size: V, rows of the table u.
        rank: width of the correction.
        width: of the GRU's state and of the projected embeddings that it reads.
        top_k: K, candidates a slot.
    """

    kind = "domino"

    def __init__(self, hidden_size: int, vocab_size: int, rank: int = 32, width: int = 128, top_k: int = 16):
        super().__init__()
        self.top_k = top_k
        self.enter = nn.Linear(hidden_size, width, bias=False)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.project = nn.Linear(hidden_size + width, rank, bias=False)
        self.table = nn.Embedding(vocab_size, rank)
        nn.init.zeros_(self.table.weight)  # at the start the logits stay as they are

    @property
    def settings(self) -> dict:
        """Arguments that make a head of the same shape, besides `hidden_size` and `vocab_size`."""
        return {"rank": self.table.embedding_dim, "width": self.gru.hidden_size, "top_k": self.top_k}

    def forward(self, block: Block) -> Chosen:
        """Choose a path."""
        token, state, ranks, rows = block.anchor, None, [], []
        for slot in range(block.ids.shape[1]):
            ids, row = block.ids[:, slot], block.logits[:, slot]
            out, state = self.gru(self.enter(block.embed(token))[:, None], state)
            if slot:
                mixed = self.mix(block.hidden[:, slot + 1], out[:, 0])
                row = row + (self.table(ids) @ mixed.unsqueeze(-1)).squeeze(-1)
            ranks.append(row.argmax(-1))
            rows.append(row)
            token = ids.gather(-1, ranks[-1][:, None]).squeeze(-1)
        return Chosen(torch.stack(ranks, 1), torch.stack(rows, 1))

    def states(self, embeddings: torch.Tensor) -> torch.Tensor:
        """The GRU over [R, n, d] embeddings of anchor and following tokens: [R, n, width]."""
        return self.gru(self.enter(embeddings))[0]

    def mix(self, hidden: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        """[..., d] and the state before the slot [..., width] -> [..., rank]."""
        return F.silu(self.project(torch.cat([hidden, state], -1)))
