"""Blocks, survival, acceptance and what the pool could save: of the run in conftest.py, and of any run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.metrics.acceptance import acceptance
from dcoco_viz.metrics.blocks import OUTSIDE, UNKNOWN, blocks
from dcoco_viz.metrics.coverage import coverage, coverage_of, saveable
from dcoco_viz.metrics.prefix import mean_prefixes, prefixes
from dcoco_viz.metrics.survival import PATHS, budget, lengths, survival
from tests.unit.factory import make_run
from tests.unit.metrics.test_by_hand import light
from tests.unit.metrics.test_properties import RUNS


def test_blocks(run):
    found = blocks([run])
    assert found.rank.tolist() == [[0, 1, 0, OUTSIDE], [1, 0, 1, UNKNOWN], [0, 0, UNKNOWN, UNKNOWN]]
    assert found.right.astype(int).tolist() == [[1, 1, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0]]
    assert found.slots.tolist() == [4, 4, 4] and found.pool == 2


def test_survival(run):
    # prefixes: top-1 1 0 2, selected 3 0 2, oracle 3 3 2
    found = survival(blocks([run]))
    assert found.blocks == 3
    np.testing.assert_allclose(found.share["top1"], [2 / 3, 1 / 3, 0, 0])
    np.testing.assert_allclose(found.share["selected"], [2 / 3, 2 / 3, 1 / 3, 0])
    np.testing.assert_allclose(found.share["oracle"], [1, 1, 2 / 3, 0])


def test_budget(run):
    found = budget(blocks([run]))
    assert found == (4, 1, pytest.approx(5 / 3), pytest.approx(8 / 3))
    parts = (found.gained, found.ranking, found.coverage)
    assert parts == (pytest.approx(2 / 3), pytest.approx(1), pytest.approx(4 / 3))


def test_acceptance(run):
    # 4, 4 and 2 slots were submitted, 3, 0 and 2 accepted: the third cycle never reached slot 3
    found = acceptance([run])
    assert found.submitted.tolist() == [3, 3, 2, 2]
    assert found.reached.tolist() == [3, 2, 1, 1]
    assert found.accepted.tolist() == [2, 2, 1, 0]
    np.testing.assert_allclose(found.conditional, [2 / 3, 1, 1, 0])
    np.testing.assert_allclose(found.unconditional, [2 / 3, 2 / 3, 1 / 2, 0])


def test_a_slot_that_no_cycle_reached_has_no_conditional_share(run):
    run.cycles = run.cycles[1:2]  # accepts nothing
    found = acceptance([run])
    assert found.conditional[0] == 0 and np.isnan(found.conditional[1:]).all()
    assert found.unconditional.tolist() == [0, 0, 0, 0]


def test_saveable(run):
    # wrong: 15 at slot 1, 12 at slot 2, 17 at slot 3, all at rank 2; and 14 at slot 4, which the pool lacks
    found = saveable(blocks([run]))
    assert found.wrong.tolist() == [1, 1, 1, 1] and found.held.tolist() == [1, 1, 1, 0]
    assert found.share.tolist() == [1, 1, 1, 0] and found.in_all == 3 / 4


def test_mean_coverage_gives_every_slot_the_same_weight(run):
    found = coverage([run], (1, 2, 4))
    assert found.mean(1) == pytest.approx((2 / 3 + 2 / 3 + 1 / 2 + 0) / 4)
    assert found.mean(2) == pytest.approx(3 / 4)
    assert found.mean(4) is None


def test_light_records_have_acceptance_alone(run):
    found = blocks([light(run)])
    assert found.rank.shape == (0, 0) and found.pool == 0
    assert budget(found) is saveable(found).in_all is None
    assert survival(found).blocks == 0
    assert acceptance([run]).accepted.tolist() == [2, 2, 1, 0]


def test_nothing_is_nothing():
    assert acceptance([]).submitted.tolist() == [] == coverage([]).counts.tolist()
    assert len(acceptance([make_run(method="none")]).submitted) == 0


def test_a_dense_record_has_blocks_and_no_acceptance():
    dense = make_run(cycles=3, record="dense")
    assert len(blocks([dense]).slots) == 3 and len(acceptance([dense]).submitted) == 0


@given(st.lists(RUNS, min_size=1, max_size=3))
def test_blocks_of_all_shapes_give_what_each_block_gives(runs):
    found = lengths(blocks(runs))
    one_by_one = [prefixes(run, cycle) for run in runs for cycle in run.cycles]
    assert [tuple(int(found[path][i]) for path in PATHS) for i in range(len(one_by_one))] == one_by_one


@given(st.lists(RUNS, min_size=1, max_size=3))
def test_survival_falls_and_paths_keep_their_order(runs):
    found, share = blocks(runs), survival(blocks(runs)).share
    for path in PATHS:
        assert (np.diff(share[path]) <= 0).all() and (share[path] >= 0).all()
    assert (share["oracle"] >= share["selected"]).all() and (share["oracle"] >= share["top1"]).all()
    means = budget(found)
    np.testing.assert_allclose(means[1:], mean_prefixes(runs))
    np.testing.assert_allclose([share[path].sum() for path in PATHS], means[1:])
    assert means.top1 + means.gained + means.ranking + means.coverage == pytest.approx(means.slots)
    assert means.ranking >= 0 and means.coverage >= 0


@given(RUNS)
def test_conditional_shares_multiply_to_the_unconditional_one(run):
    # each cycle of one of these runs submits as much as the others
    found = acceptance([run])
    conditional = np.nan_to_num(found.conditional)  # beyond the last slot that was reached, nothing is accepted
    np.testing.assert_allclose(np.cumprod(conditional), found.unconditional)
    assert (found.accepted <= found.reached).all() and (found.reached <= found.submitted).all()
    assert found.reached[0] == len(run.cycles)


@given(RUNS)
def test_what_the_pool_saves_is_the_gap_of_coverage(run):
    found = blocks([run])
    k = found.pool
    share, counts = coverage_of(found, (1, k))
    np.testing.assert_array_equal(saveable(found).wrong, counts - np.nan_to_num(share[1] * counts).round())
    np.testing.assert_allclose(saveable(found).held, np.nan_to_num((share[k] - share[1]) * counts), atol=1e-9)
