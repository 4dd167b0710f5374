"""The corrector is METHOD's: its size, its function, and where it starts."""

import pytest
import torch
import torch.nn.functional as F

from dcoco_viz.lattice.walk import greedy
from dcoco_viz.methods.block import Block
from dcoco_viz.methods.dcoco.model import Corrector


def _random(corrector: Corrector, std: float = 0.3) -> Corrector:
    for p in corrector.parameters():
        torch.nn.init.normal_(p, std=std)
    return corrector


def _block(rows=2, slots=5, k=4, d=24) -> Block:
    torch.manual_seed(1)
    logits = torch.randn(rows, slots, k).sort(-1, descending=True).values
    table = torch.randn(30, d)
    ids = torch.stack([torch.randperm(30)[:k] for _ in range(rows * slots)]).unflatten(0, (rows, slots))
    hidden = torch.randn(rows, slots + 1, d)
    return Block(hidden, torch.tensor([7, 8])[:rows], ids, logits, lambda at: table.to(hidden.dtype)[at])


def test_size_at_the_papers_width():
    assert sum(p.numel() for p in Corrector(4096).parameters()) == 2_229_505


@pytest.mark.parametrize("pair", [True, False])
@pytest.mark.parametrize("candidate", [True, False])
def test_factored_form_equals_the_plain_mlp_over_concatenated_inputs(pair, candidate):
    corrector = _random(Corrector(24, rank=8, mlp_hidden=16, anchored=True, pair=pair, candidate=candidate))
    block = _block()
    grid = corrector(block)

    def state(r, slot, token):  # slots from 0, the anchor's
        parts = [F.layer_norm(corrector.context(block.hidden[r, slot]), (8,))]
        if candidate:
            parts.insert(0, F.layer_norm(corrector.candidate(block.embed(token)), (8,)))
        return corrector.fuse_norm(corrector.fuse(torch.cat(parts)))

    def plain(r, slot, a, l_a, b):
        l_b = block.logits[r, slot - 1, b]
        z = [state(r, slot - 1, a), state(r, slot, block.ids[r, slot - 1, b])]
        s = [corrector.pair(torch.cat([block.hidden[r, slot - 1], block.hidden[r, slot]]))] if pair else []
        return l_b + corrector.output(F.gelu(corrector.hidden(torch.cat([*s, *z, l_a[None], l_b[None]])))).squeeze()

    close = {"atol": 1e-5, "rtol": 1e-5}
    for r in range(2):
        for b in range(4):
            torch.testing.assert_close(grid.first[r, b], plain(r, 1, block.anchor[r], torch.tensor(0.0), b), **close)
        for p in range(4):
            for a in range(4):
                for b in range(4):
                    expected = plain(r, p + 2, block.ids[r, p, a], block.logits[r, p, a], b)
                    torch.testing.assert_close(grid.scores[r, p, a, b], expected, **close)


def test_without_an_anchor_slot_1_keeps_its_draft_logits():
    block = _block()
    plain = _random(Corrector(24, rank=8, mlp_hidden=16))
    assert torch.equal(plain(block).first, block.logits[:, 0])
    anchored = Corrector(24, rank=8, mlp_hidden=16, anchored=True)
    anchored.load_state_dict(plain.state_dict())
    torch.testing.assert_close(anchored(block).scores, plain(block).scores)
    assert not torch.equal(anchored(block).first, block.logits[:, 0])


def test_zero_start_walks_the_argmax_path():
    block = _block()
    grid = Corrector(24, rank=8, mlp_hidden=16)(block)
    assert torch.equal(grid.scores, block.logits[:, 1:, None, :].expand_as(grid.scores))
    assert not greedy(grid.first, grid.scores).any()


def test_in_bfloat16_the_scores_are_those_of_float32_up_to_rounding():
    """As the engine calls it: everything in bfloat16 but the pool's logits, which stay exact in the scores."""
    corrector, block = _random(Corrector(24, rank=8, mlp_hidden=16)), _block()
    exact = corrector(block).scores
    half = block._replace(hidden=block.hidden.bfloat16(), embed=lambda at: block.embed(at).bfloat16())
    rounded = corrector.bfloat16()(half).scores
    assert rounded.dtype == torch.float32
    spread = float((exact - block.logits[:, 1:, None, :]).detach().std())
    torch.testing.assert_close(rounded, exact, atol=0.1 * spread, rtol=0)


def test_a_trained_corrector_can_leave_the_argmax_path():
    grid = _random(Corrector(24, rank=8, mlp_hidden=16), std=1.0)(_block())
    assert greedy(grid.first, grid.scores).any()


def test_scores_look_only_at_the_two_slots_of_their_pair():
    corrector, block = _random(Corrector(24, rank=8, mlp_hidden=16)), _block()
    before = corrector(block).scores
    block.hidden[:, 4:] += 1.0
    after = corrector(block).scores
    assert torch.equal(before[:, :2], after[:, :2]) and not torch.equal(before[:, 2:], after[:, 2:])
