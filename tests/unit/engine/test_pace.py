"""The pace of a made-up machine: 20 ms a verifier step and 1 ms a token of it, 10 ms a draft."""

import numpy as np
import pytest
import torch

from dcoco_viz.engine.pace import LONGEST_REST, TRIES, Pace

SURE = torch.tensor([[0.9**j for j in range(1, 16)]], dtype=torch.float64)
HOPELESS = torch.tensor([[0.02**j for j in range(1, 16)]], dtype=torch.float64)


def machine(sizes=(1, 8, 16)) -> Pace:
    pace = Pace()
    for tokens in sizes:
        for _ in range(3):
            pace.verified(tokens, 0.020 + 0.001 * tokens)
    pace.drafted("dcoco", 1, 0.010)
    return pace


def test_a_straight_cost_curve_is_found():
    np.testing.assert_allclose(machine().seconds(np.array([1.0, 4.0, 30.0])), [0.021, 0.024, 0.050])


def test_one_bad_measurement_in_three_changes_nothing():
    pace = machine()
    pace.verified(8, 5.0)
    np.testing.assert_allclose(pace.seconds(np.array([4.0])), [0.024])


def test_everything_is_submitted_until_costs_are_known():
    assert Pace().choose("dcoco", SURE) == [15]
    few = SURE.clone()
    few[:, 3:] = 0
    assert Pace().choose("dcoco", few) == [3]
    assert machine().choose("domino", SURE) == [15]  # whose drafting was never timed


def test_the_surer_the_path_the_more_slots():
    pace = machine()
    likely, unlikely = (pace.choose("dcoco", SURE ** power)[0] for power in (1, 4))
    assert 15 >= likely > unlikely >= 1


def test_a_drafter_that_does_not_pay_rests_longer_and_longer_and_is_tried_again():
    pace = machine()
    pauses, steps = [], 0
    for _ in range(2000):
        if pace.rests("dcoco"):
            steps += 1
            continue
        if steps:
            pauses.append(steps)
        steps = 0
        pace.choose("dcoco", HOPELESS)
    assert pauses[:5] == [2, 4, 8, 16, 32] and set(pauses[5:]) == {LONGEST_REST}
    assert not pace.rests("dflash")


def test_a_drafter_that_pays_again_is_not_sent_to_rest():
    pace = machine()
    for _ in range(TRIES):
        pace.choose("dcoco", HOPELESS)
    assert [pace.rests("dcoco") for _ in range(3)] == [True, True, False]
    for _ in range(50):
        pace.choose("dcoco", SURE)
        assert not pace.rests("dcoco")
    while not pace.rests("dcoco"):
        pace.choose("dcoco", HOPELESS)
    assert 1 + sum(pace.rests("dcoco") for _ in range(10)) == 2  # the first rest again, not a longer one


def test_what_the_rest_of_the_batch_costs_counts():
    """A curve that is flat up to 8 tokens and steep behind leaves no room beside a full batch."""
    pace = Pace()
    for tokens, seconds in ((1, 0.02), (4, 0.02), (8, 0.02), (64, 0.30), (128, 0.62)):
        pace.verified(tokens, seconds)
    pace.drafted("dcoco", 1, 0.001)
    path = torch.tensor([[0.5 ** (j + 1) for j in range(15)]], dtype=torch.float64)
    alone, crowded = pace.choose("dcoco", path)[0], pace.choose("dcoco", path, beside=100, tokens=100)[0]
    assert alone > crowded


@pytest.mark.parametrize("rows", [1, 3])
def test_a_batch_shares_one_forward(rows):
    pace = machine()
    pace.drafted("dcoco", rows, 0.010)
    found = pace.choose("dcoco", SURE.expand(rows, -1))
    assert len(found) == rows and max(found) - min(found) <= 1
