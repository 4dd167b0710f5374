import pytest

from dcoco_viz.lab.cost import Cost, measured, tokens_per_second
from dcoco_viz.lab.dense import Simulation
from dcoco_viz.lab.table import Choice, best
from tests.unit.factory import make_run
from tests.unit.lab.decoding import decode


def test_cost_between_two_measured_points_by_hand():
    cost = Cost({0: [10.0], 1: [20.0, 22.0, 90.0], 5: [30.0, 34.0], 9: []})
    assert cost.points == {0: 10.0, 1: 22.0, 5: 32.0}
    assert cost.counts == {0: 1, 1: 3, 5: 2}
    assert [cost.at(n) for n in (0, 1, 2, 3, 5)] == [10.0, 22.0, 24.5, 27.0, 32.0]
    assert cost.at(6) is None  # beyond what was measured
    assert Cost({3: [5.0]}).at(2) is None


def test_speed_by_hand():
    cost = Cost({1: [20.0], 3: [40.0]})
    simulation = Simulation([0, 2, 5], [1, 3, 2], [1, 2, 0], [2, 3, 1])
    assert tokens_per_second(simulation, cost) == pytest.approx(1000 * 6 / (20 + 40 + 30))
    assert tokens_per_second(simulation._replace(submitted=[1, 3, 4]), cost) is None
    assert tokens_per_second(simulation, Cost({})) is None


def test_what_counts_as_measured():
    run = decode(1, length=12, slots=4, pool=3, limit=2)  # draft 2 ms, verify 10 + slots ms
    three = decode(2, length=12, slots=4, pool=3, limit=3)
    three.id = "three"
    plain = make_run(method="none", cycles=3, seed=1)
    plain.meta = dict(run.meta)
    for cycle in plain.cycles:
        cycle.verify_ms = 9.0
    dense = decode(3, length=12, slots=4, pool=3, dense=True)
    elsewhere = decode(4, length=12, slots=4, pool=3, limit=4)
    elsewhere.meta["hardware"] = "another machine"
    other = decode(5, length=12, slots=4, pool=3, limit=1)
    other.request.method = "dflash"
    for number, found in enumerate((plain, dense, elsewhere, other)):
        found.id = str(number)
    cost = measured(run, [run, three, plain, dense, elsewhere, other])
    assert cost.points == {0: 9.0, 2: 14.0, 3: 15.0}
    assert cost.counts[2] == len(run.cycles)  # once, though it is named twice


def test_a_cycle_that_could_not_draft_is_no_cycle_without_a_draft():
    run = decode(1, length=12, slots=4, pool=3, limit=2)
    run.cycles[0].submitted = 0
    assert 0 not in measured(run, []).points


def test_the_fastest_number_of_slots():
    choices = [Choice(1, 1.5, 10.0), Choice(2, 1.7, 12.0), Choice(3, 1.8, 12.0), Choice(4, 1.9, None)]
    assert best(choices) == choices[1]
    assert best(choices[3:]) is None
