import math

import numpy as np
import pytest

from dcoco_viz.lab.calibrate import fit
from dcoco_viz.lattice.confidence import FEATURES
from tests.unit.factory import make_run

METHODS = ("dflash", "dcoco", "dcoco-anchored", "domino", "dspark")


def runs(method: str, count: int = 4, **ways):
    return [make_run(method=method, cycles=60, seed=seed, head=method != "dflash", **ways) for seed in range(count)]


@pytest.mark.parametrize("method", METHODS)
def test_the_slots_that_count_are_those_behind_right_ones_inside_the_text(method):
    found = fit(runs(method))[method]
    slots, accepted = 0, 0
    for run in runs(method):
        ids = run.prompt_ids + run.token_ids
        for cycle in run.cycles:
            path = cycle.candidates[np.arange(4), cycle.ranks]
            for slot, token in enumerate(path, 1):
                if cycle.anchor_position + slot >= len(ids):
                    break
                slots += 1
                if token != ids[cycle.anchor_position + slot]:
                    break
                accepted += 1
    assert (found.slots, found.runs) == (slots, 4) and found.accepted == pytest.approx(accepted / slots)
    assert sum(n for *_, n in found.reliability) == slots and len(found.weights) == len(FEATURES)


def test_what_is_only_noise_is_worth_the_mean():
    found = fit(runs("dcoco", 12))["dcoco"]
    share = found.accepted
    assert abs(found.loss + share * math.log(share) + (1 - share) * math.log(1 - share)) < 0.02 < found.loss_draft


def test_a_head_that_knows_is_believed():
    """Where the confidence recorded is the truth, and not quite sure of itself, the fit makes more of it."""
    known = runs("dspark", 6)
    for run in known:
        ids = np.array(run.prompt_ids + run.token_ids + [-1] * 8)
        for cycle in run.cycles:
            truth = ids[cycle.anchor_position + 1 + np.arange(4)]
            right = cycle.candidates[np.arange(4), cycle.ranks] == truth
            cycle.confidence = np.where(right, 0.8, 0.2).astype(np.float32)
    found = fit(known)["dspark"]
    assert found.loss < 0.1 and found.weights[FEATURES.index("head")] > 1


def test_what_cannot_be_fitted_is_said():
    with pytest.raises(ValueError, match="None of these runs can be fitted"):
        fit([make_run(method="none"), make_run(record="light")])
    with pytest.raises(ValueError, match="dcoco: 1 runs with"):
        fit(runs("dcoco", 1))
    warm = runs("dcoco")
    for run in warm:
        run.request.temperature = 0.5
    with pytest.raises(ValueError, match="None of these runs"):
        fit(warm)
