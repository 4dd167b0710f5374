"""What a recipe leaves to verifier and data."""

import pytest

from dcoco_viz.train import data
from dcoco_viz.train.inputs import spread, unused


def test_layers_are_spread_as_in_the_shipped_checkpoints():
    assert spread(30) == (1, 9, 18, 27)
    assert spread(36) == (1, 11, 22, 33)
    assert spread(12) == (1, 3, 6, 9)
    for layers in range(2, 80):
        ids = spread(layers)
        assert list(ids) == sorted(set(ids)) and 0 <= ids[0] and ids[-1] < layers - 1 and len(ids) == min(4, layers - 1)


def test_the_mask_is_a_token_that_the_data_never_holds():
    rows = [data.Example("s", "p", [1, 7], [9, 8])]
    assert unused(rows, 12) == 11 and unused(rows, 10) == 6
    with pytest.raises(data.DataError, match="mask_token_id"):
        unused([data.Example("s", "p", [0, 1], [2])], 3)
