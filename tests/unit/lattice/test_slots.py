import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.lattice.slots import share, survival


def test_survival_is_the_product_along_the_path_and_ends_at_the_limit():
    found = survival(torch.tensor([[0.5, 0.5, 0.5], [1.0, 0.25, 0.5]]), torch.tensor([2, 3]))
    assert found.tolist() == [[0.5, 0.25, 0.0], [1.0, 0.25, 0.125]]


def test_one_request_by_hand():
    """Tokens 1, 1.8, 2.2, 2.3 in 10 + 20, 22, 24, 26 ms: 33.3, 56.3, 64.7, 63.9 tokens a second."""
    chances = torch.tensor([[0.8, 0.4, 0.1]], dtype=torch.float64)
    found = share(chances, torch.tensor([0.020, 0.022, 0.024, 0.026], dtype=torch.float64), 0.010)
    assert found.slots == [2] and found.rate == pytest.approx(2.2 / 0.034)


def test_no_slot_where_none_pays_and_none_past_the_limit():
    costly = torch.tensor([0.01, 0.05, 0.09], dtype=torch.float64)
    assert share(torch.tensor([[0.5, 0.2]], dtype=torch.float64), costly, 0.0).slots == [0]
    falling = torch.tensor([0.05, 0.03, 0.01], dtype=torch.float64)  # measurements are noisy
    assert share(torch.tensor([[0.5, 0.0]], dtype=torch.float64), falling, 0.0).slots == [1]


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**31))
def test_against_every_way_to_cut_the_batch(rows, slots, seed):
    torch.manual_seed(seed)
    chances = survival(torch.rand(rows, slots), torch.randint(1, slots + 1, (rows,)))
    seconds = torch.rand(rows * slots + 1, dtype=torch.float64).cumsum(0) + 0.1
    found = share(chances, seconds, 0.05)
    best = max(
        (rows + sum(float(chances[r, :n].sum()) for r, n in enumerate(cut))) / (0.05 + float(seconds[sum(cut)]))
        for cut in itertools.product(range(slots + 1), repeat=rows)
    )
    assert found.rate == pytest.approx(best)
    got = rows + sum(float(chances[r, :n].sum()) for r, n in enumerate(found.slots))
    assert got / (0.05 + float(seconds[sum(found.slots)])) == pytest.approx(best)
