import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.lattice.pool import top_k


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 9), st.data(), st.integers(0, 2**31))
def test_pool_holds_the_best_tokens_of_every_slot(r, b, v, data, seed):
    k = data.draw(st.integers(1, v))
    logits = torch.randint(-3, 4, (r, b, v), generator=torch.Generator().manual_seed(seed)).float()
    pool = top_k(logits, k)
    assert pool.ids.shape == pool.logits.shape == (r, b, k) and pool.lognorm.shape == (r, b)
    for i in range(r):
        for j in range(b):
            row = logits[i, j].tolist()
            assert pool.logits[i, j].tolist() == sorted(row, reverse=True)[:k]
            ids = pool.ids[i, j].tolist()
            assert len(set(ids)) == k and [row[t] for t in ids] == pool.logits[i, j].tolist()
            np.testing.assert_allclose(
                pool.lognorm[i, j].item(), np.log(np.exp(row).sum()), rtol=1e-5, atol=1e-5
            )


def test_probabilities_of_a_whole_vocabulary_sum_to_one():
    pool = top_k(torch.tensor([[[0.5, -1.0, 3.0, 2.0]]]), 4)
    assert torch.isclose((pool.logits - pool.lognorm[..., None]).exp().sum(), torch.tensor(1.0))


def test_half_precision_logits_are_kept_in_float32():
    pool = top_k(torch.randn(1, 2, 50).bfloat16(), 3)
    assert pool.logits.dtype == pool.lognorm.dtype == torch.float32


def test_the_normaliser_is_left_out_on_request():
    pool = top_k(torch.ones(2, 3, 5), 2, normalise=False)
    assert pool.lognorm.shape == (2, 3) and not pool.lognorm.any()
