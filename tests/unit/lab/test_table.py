from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.lab.cost import Cost, tokens_per_second
from dcoco_viz.lab.dense import simulate
from dcoco_viz.lab.replay import paired, replay
from dcoco_viz.lab.table import table
from tests.unit.lab.decoding import decode

NAMES = ["global-sum", "greedy", "beam:2", "greedy+cut:0.3"]


@given(st.integers(0, 1000), st.integers(1, 3), st.integers(1, 3))
def test_a_row_is_its_walk_replayed_and_simulated(seed, pool, slots):
    shape = {"length": 12, "slots": 3, "pool": 3}
    run, dense = decode(seed, **shape, walk="global-sum"), decode(seed, **shape, dense=True)
    cost = Cost({0: [9.0], 1: [11.0], 3: [15.0]})
    rows = table(run, NAMES, pool=pool, slots=slots, dense=dense, cost=cost)
    own = replay(run, ["global-sum"], pool=pool, slots=slots)[0]
    assert [row.walk for row in rows] == NAMES
    for row in rows:
        found = replay(run, [row.walk], pool=pool, slots=slots)[0]
        simulation = simulate(dense, replay(dense, [row.walk], pool=pool, slots=slots)[0])
        assert row.accepted == found.mean == sum(n * i for i, n in enumerate(row.histogram)) / len(run.cycles)
        assert row.paired == paired(found, own)
        assert row.submitted == found.submitted.mean()
        assert row.tau == simulation.tau
        assert row.tokens_per_second == tokens_per_second(simulation, cost)
    assert rows[0].paired == (0.0, 0, 0, len(run.cycles))


def test_without_a_dense_trace_nothing_is_claimed_of_the_run():
    run = decode(1, length=12, slots=3, pool=3)
    (row,) = table(run, ["beam:2"], pool=None, slots=None, dense=None, cost=Cost({3: [10.0]}))
    assert row.tau is None and row.tokens_per_second is None
