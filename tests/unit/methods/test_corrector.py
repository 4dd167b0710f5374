"""The corrector is METHOD's: its size, its function, and where it starts."""

import torch
import torch.nn.functional as F

from dcoco_viz.lattice.walk import greedy
from dcoco_viz.methods.dcoco.model import Corrector


def _random(corrector: Corrector) -> Corrector:
    for p in corrector.parameters():
        torch.nn.init.normal_(p, std=0.3)
    return corrector


def _inputs(rows=2, slots=5, k=4, d=24):
    torch.manual_seed(1)
    logits = torch.randn(rows, slots, k).sort(-1, descending=True).values
    return torch.randn(rows, slots, d), torch.randn(rows, slots, k, d), logits


def test_size_at_the_papers_width():
    assert sum(p.numel() for p in Corrector(4096).parameters()) == 2_229_505


def test_factored_form_equals_the_plain_mlp_over_concatenated_inputs():
    corrector = _random(Corrector(24, rank=8, mlp_hidden=16))
    hidden, embeddings, logits = _inputs()
    scores = corrector(hidden, embeddings, logits)
    for r in range(2):
        for p in range(4):
            s = corrector.pair(torch.cat([hidden[r, p], hidden[r, p + 1]]))
            for a in range(4):
                for b in range(4):
                    z = []
                    for slot, rank in ((p, a), (p + 1, b)):
                        candidate = F.layer_norm(corrector.candidate(embeddings[r, slot, rank]), (8,))
                        context = F.layer_norm(corrector.context(hidden[r, slot]), (8,))
                        z.append(corrector.fuse_norm(corrector.fuse(torch.cat([candidate, context]))))
                    x = torch.cat([s, *z, logits[r, p, a : a + 1], logits[r, p + 1, b : b + 1]])
                    plain = logits[r, p + 1, b] + corrector.output(F.gelu(corrector.hidden(x)))
                    torch.testing.assert_close(scores[r, p, a, b], plain.squeeze(), atol=1e-5, rtol=1e-5)


def test_zero_start_walks_the_argmax_path():
    hidden, embeddings, logits = _inputs()
    scores = Corrector(24, rank=8, mlp_hidden=16)(hidden, embeddings, logits)
    assert torch.equal(scores, logits[:, 1:, None, :].expand_as(scores))
    assert not greedy(logits[:, 0], scores).any()


def test_a_trained_corrector_can_leave_the_argmax_path():
    hidden, embeddings, logits = _inputs()
    scores = _random(Corrector(24, rank=8, mlp_hidden=16))(hidden, embeddings, logits)
    assert greedy(logits[:, 0], scores).any()


def test_scores_look_only_at_the_two_slots_of_their_pair():
    corrector = _random(Corrector(24, rank=8, mlp_hidden=16))
    hidden, embeddings, logits = _inputs()
    before = corrector(hidden, embeddings, logits)
    hidden[:, 3:] += 1.0
    after = corrector(hidden, embeddings, logits)
    assert torch.equal(before[:, :2], after[:, :2]) and not torch.equal(before[:, 2:], after[:, 2:])
