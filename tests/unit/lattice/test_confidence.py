import math

import torch

from dcoco_viz.lattice.confidence import evidence, probability


def test_features_by_hand():
    rows = torch.tensor([[2.0, 1.0], [0.0, 0.0]])
    found = evidence(torch.tensor([-0.5, -1.0]), rows, torch.tensor([0, 1]), torch.tensor([0.5, 0.75]))
    expected = [[1, -0.5, 2 - math.log(math.e**2 + math.e), 0], [1, -1.0, -math.log(2), math.log(3)]]
    torch.testing.assert_close(found, torch.tensor(expected))
    assert evidence(torch.tensor([-0.5, -1.0]), rows, torch.tensor([0, 1]))[:, 3].tolist() == [0, 0]


def test_probability_of_a_fit_and_without_one():
    seen = torch.tensor([[1.0, math.log(0.25), -1.0, 0.0]])
    assert torch.allclose(probability(seen, None), torch.tensor([0.25]))
    weights = torch.tensor([0.5, 0.0, 1.0, 0.0])
    assert torch.allclose(probability(seen, weights), torch.sigmoid(torch.tensor([-0.5])))
