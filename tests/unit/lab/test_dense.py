"""A walk through the text of a dense trace, against decoding it."""

from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.lab.cost import Cost
from dcoco_viz.lab.dense import belongs, find, parted, simulate
from dcoco_viz.lab.replay import replay
from dcoco_viz.lab.table import by_slots
from dcoco_viz.metrics.prefix import tau
from dcoco_viz.trace.check import check
from tests.unit.lab.decoding import decode

SHAPES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10_000),
        "length": st.integers(2, 30),
        "slots": st.integers(1, 4),
        "pool": st.integers(1, 4),
    }
)
RULES = st.sampled_from(["greedy", "global-sum", "geometric:0.5"])


@given(SHAPES, RULES, RULES, st.integers(1, 4))
def test_the_simulation_is_what_decoding_does(shape, walk, recorded, limit):
    """The dense trace was recorded with any walk; only its candidates and scores matter."""
    dense = decode(**shape, walk=recorded, dense=True)
    check([dense])
    real = decode(**shape, walk=walk, limit=limit)
    found = simulate(dense, replay(dense, [walk], slots=limit)[0])
    assert found.anchors == [cycle.anchor_position - len(real.prompt_ids) for cycle in real.cycles]
    assert found.submitted == [cycle.submitted for cycle in real.cycles]
    assert found.accepted == [cycle.accepted for cycle in real.cycles]
    assert found.committed == [len(cycle.committed) for cycle in real.cycles]
    assert found.tau == tau(real)


@given(SHAPES, RULES)
def test_every_number_of_slots_is_what_decoding_with_it_does(shape, walk):
    dense = decode(**shape, dense=True)
    found = by_slots(dense, walk, Cost({}))
    assert [choice.slots for choice in found] == list(range(1, shape["slots"] + 1))
    for choice in found:
        assert choice.tau == tau(decode(**shape, walk=walk, limit=choice.slots))
        assert choice.tokens_per_second is None


def test_a_position_without_a_block_is_a_plain_step():
    dense = decode(3, length=9, slots=3, pool=3, dense=True)
    for cycle in dense.cycles[2:]:
        cycle.candidates = cycle.logits = cycle.lognorm = cycle.scores = cycle.ranks = None
    found = simulate(dense, replay(dense, ["greedy"], slots=3)[0])
    late = [i for i, at in enumerate(found.anchors) if at >= 2]
    assert late and all(found.submitted[i] == 0 and found.committed[i] == 1 for i in late)
    assert sum(found.committed) == 8


def test_one_token_has_no_tau():
    dense = decode(3, length=9, slots=3, pool=3, dense=True)
    replayed = replay(dense, ["greedy"], slots=3)[0]
    dense.token_ids = dense.token_ids[:1]
    assert simulate(dense, replayed) is None


def test_a_dense_trace_is_found_by_its_text():
    run, dense = (decode(3, length=9, slots=3, pool=3, dense=dense) for dense in (False, True))
    other = decode(4, length=9, slots=3, pool=3, dense=True)
    assert belongs(run, dense) and not belongs(run, other) and not belongs(run, run)
    assert find(run, [other, dense]) is dense
    assert find(run, [other]) is None
    assert find(dense, []) is dense
    dense.meta["dtype"] = "bfloat16"
    assert find(run, [dense]) is None


def test_where_two_texts_part():
    run, dense = (decode(3, length=9, slots=3, pool=3, dense=dense) for dense in (False, True))
    assert parted(run, dense) is None
    dense.token_ids = dense.token_ids[:4]
    assert parted(run, dense) == 4
    dense.token_ids = [*run.token_ids[:2], (run.token_ids[2] + 1) % 6, *run.token_ids[3:]]
    assert parted(run, dense) == 2
