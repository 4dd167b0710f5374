"""What the losses count, and what they leave out."""

import torch
import torch.nn.functional as F

from dcoco_viz.methods.dcoco.loss import corrector_loss, pair_mask, ranks_of
from dcoco_viz.methods.dflash.loss import drafter_loss, slot_weights


def test_slot_weights_fall_by_e_every_rho_slots():
    weights = slot_weights(9, rho=4.0)
    torch.testing.assert_close(weights[[0, 4, 8]], torch.exp(torch.tensor([0.0, -1.0, -2.0])))


def test_hard_part_is_weighted_cross_entropy():
    logits, labels, weights = (
        torch.randn(4, 9),
        torch.tensor([0, 3, 8, 1]),
        torch.tensor([1.0, 0.5, 0.2, 0.1]),
    )
    soft_ids, soft_logp = torch.zeros(4, 2, dtype=torch.long), torch.zeros(4, 2)
    expected = (F.cross_entropy(logits, labels, reduction="none") * weights).sum() / weights.sum()
    torch.testing.assert_close(drafter_loss(logits, labels, soft_ids, soft_logp, weights, soft=0.0), expected)


def test_soft_part_renormalises_over_known_tokens():
    logits, weights = torch.randn(1, 9), torch.ones(1)
    soft_ids, soft_logp = torch.tensor([[2, -1, 5]]), torch.log(torch.tensor([[0.3, 0.5, 0.1]]))
    logp = logits.log_softmax(-1)[0]
    expected = -(0.75 * logp[2] + 0.25 * logp[5])
    torch.testing.assert_close(
        drafter_loss(logits, torch.tensor([2]), soft_ids, soft_logp, weights, soft=1.0), expected
    )


def test_slots_outside_the_response_or_the_vocabulary_do_not_count():
    logits = torch.randn(3, 9, requires_grad=True)
    soft_ids = torch.tensor([[1, 2], [-1, -1], [1, 2]])
    loss = drafter_loss(
        logits, torch.tensor([1, -1, 2]), soft_ids, torch.zeros(3, 2), torch.tensor([1.0, 1.0, 0.0])
    )
    (gradient,) = torch.autograd.grad(loss, logits)
    assert loss.isfinite() and gradient[0].any() and not gradient[1:].any()


def test_a_pair_counts_only_with_both_labels_among_the_candidates():
    ids = torch.tensor([[[5, 6], [7, 8], [1, 2], [3, 4]]])
    ranks = ranks_of(ids, torch.tensor([[6, 7, 9, 3]]))
    assert ranks.tolist() == [[1, 0, -1, 0]]
    valid = torch.tensor([[True, True, True, True]])
    assert pair_mask(ranks, valid).tolist() == [[True, False, False]]
    valid[0, 1] = False
    assert not pair_mask(ranks, valid).any()


def test_corrector_loss_is_one_softmax_over_all_transitions_of_a_pair():
    scores = torch.randn(2, 3, 3)
    a, b, weights = torch.tensor([2, 0]), torch.tensor([1, 2]), torch.tensor([1.0, 0.5])
    flat = -torch.stack([scores[0].flatten().softmax(0)[7].log(), scores[1].flatten().softmax(0)[2].log()])
    torch.testing.assert_close(corrector_loss(scores, a, b, weights), (flat * weights).sum() / 1.5)
    assert corrector_loss(scores[:0], a[:0], b[:0], weights[:0]) == 0
