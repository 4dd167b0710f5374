"""Replay against a decoder in plain Python, and on traces that the engine recorded."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.lab.replay import deviations, histogram, known, limited, paired, path_scores, replay
from dcoco_viz.lattice.walk import parse
from dcoco_viz.presets import ROOT
from dcoco_viz.trace import files
from dcoco_viz.trace.check import check
from tests.unit.factory import make_run
from tests.unit.lab.decoding import agrees, cut, decode, walked

RULES = ("greedy", "global-sum", "geometric:0.5")
RUNS = st.builds(
    decode,
    st.integers(0, 10_000),
    length=st.integers(2, 14),
    slots=st.integers(1, 4),
    pool=st.integers(1, 4),
    walk=st.sampled_from(RULES),
    limit=st.integers(1, 4),
    method=st.sampled_from(["dcoco", "dcoco-anchored"]),
)
SERIAL = st.builds(
    decode,
    st.integers(0, 10_000),
    length=st.integers(2, 14),
    slots=st.integers(1, 4),
    pool=st.integers(1, 4),
    limit=st.integers(1, 4),
    method=st.sampled_from(["domino", "dspark"]),
)


def block_of(cycle, pool=None):
    return {
        "logits": cycle.logits[:, :pool],
        "lognorm": cycle.lognorm,
        "scores": cycle.scores[:, :pool, :pool],
        "first": cycle.logits[0, :pool] if cycle.corrected is None else cycle.corrected[0, :pool],
    }


@given(RUNS)
def test_the_plain_decoder_writes_sound_runs(run):
    check([run])


@given(RUNS, st.sampled_from(RULES), st.none() | st.integers(1, 4), st.none() | st.integers(1, 4))
def test_replay_against_a_loop_over_cycles(run, rule, pool, slots):
    found = replay(run, [rule], pool=pool, slots=slots)[0]
    text = run.prompt_ids + run.token_ids
    assert found.cycles.tolist() == list(range(len(run.cycles)))
    for row, cycle in enumerate(run.cycles):
        path, rest = walked(rule, block_of(cycle, pool)), text[cycle.anchor_position + 1 :]
        sent = min(len(path), slots or run.request.slots)
        accepted = agrees(cycle.candidates, path, sent, rest)
        assert found.ranks[row].tolist() == path
        assert found.submitted[row] == sent
        assert found.accepted[row] == accepted
        assert found.committed[row] == min(accepted + 1, len(rest))


@given(RUNS, st.sampled_from([0.9, 0.5, 0.2, 0.05]))
def test_a_cut_submits_what_is_likely_enough(run, share):
    found = replay(run, [f"greedy+cut:{share}"], slots=15)[0]
    for row, cycle in enumerate(run.cycles):
        block = block_of(cycle)
        assert found.submitted[row] == cut(block, walked("greedy", block), share)
        assert found.accepted[row] <= found.submitted[row]


@given(RUNS)
def test_the_runs_own_walk_is_the_record(run):
    found = replay(run, [run.request.walk])[0]
    for row, cycle in enumerate(run.cycles):
        assert found.ranks[row].tolist() == cycle.ranks.tolist()
        assert found.submitted[row] == cycle.submitted
        assert found.committed[row] == len(cycle.committed)
        if not cycle.clipped:
            assert found.accepted[row] == cycle.accepted
    assert deviations(run) == []


def test_slot_1_of_an_anchored_head_is_its_own_choice():
    run = decode(3, length=14, slots=3, pool=4, method="dcoco-anchored")
    ranks = [cycle.corrected[0].argmax() for cycle in run.cycles]
    assert any(ranks)  # the drafter's argmax is not what they all take
    for name in ("greedy", "global-sum", "geometric:0.5", "beam:2", "greedy+top:2"):
        assert replay(run, [name])[0].ranks[:, 0].tolist() == ranks
    run.cycles[0].ranks = run.cycles[0].ranks.copy()
    run.cycles[0].ranks[0] = other = run.cycles[0].corrected[0].argmin()
    first = run.cycles[0].corrected[0]
    assert deviations(run)[0][1:3] == (0, first.max() - first[other])


@given(SERIAL, st.none() | st.integers(1, 4), st.sampled_from([0.9, 0.5, 0.2]))
def test_a_serial_head_is_replayed_by_its_own_path(run, slots, share):
    check([run])
    greedy, short = replay(run, ["greedy", f"greedy+cut:{share}"], pool=4, slots=slots)
    text = run.prompt_ids + run.token_ids
    for row, cycle in enumerate(run.cycles):
        path, sent = cycle.ranks.tolist(), min(len(cycle.ranks), slots or run.request.slots)
        block = {"logits": cycle.logits, "lognorm": cycle.lognorm}
        rest, likely = text[cycle.anchor_position + 1 :], min(sent, cut(block, path, share))
        assert greedy.ranks[row].tolist() == short.ranks[row].tolist() == path
        assert (greedy.submitted[row], short.submitted[row]) == (sent, likely)
        assert greedy.accepted[row] == agrees(cycle.candidates, path, sent, rest)
        assert short.accepted[row] == agrees(cycle.candidates, path, likely, rest)
        assert path_scores(cycle, cycle.ranks).tolist() == [cycle.corrected[j, path[j]] for j in range(1, len(path))]
    assert deviations(run) == []


@pytest.mark.parametrize("name", ["global-sum", "beam:4", "greedy+top:2", "greedy+k:2", "geometric:0.5+cut:0.3"])
def test_what_a_serial_head_never_scored_is_not_replayed(name):
    run = decode(1, length=10, slots=3, pool=3, method="domino")
    with pytest.raises(ValueError, match="scores only the successors of what it has chosen"):
        replay(run, [name])
    assert not known(run, parse(name)) and known(run, parse("greedy+cut:0.3"))
    assert known(decode(1, length=10, slots=3, pool=3), parse(name))
    with pytest.raises(ValueError, match="scores only the successors"):
        replay(run, ["greedy"], pool=2)


@given(RUNS)
def test_several_walks_at_once_are_each_of_them_alone(run):
    for name, found in zip(RULES, replay(run, list(RULES)), strict=True):
        alone = replay(run, [name])[0]
        assert found.walk == name
        assert all(np.array_equal(a, b) for a, b in zip(found[1:], alone[1:], strict=True))


def test_blocks_of_different_shapes_come_back_in_order():
    run = decode(5, length=14, slots=4, pool=4)
    whole = replay(run, ["greedy"])[0]
    for cycle in run.cycles[::2]:
        cycle.candidates, cycle.logits = cycle.candidates[:3, :2], cycle.logits[:3, :2]
        cycle.lognorm, cycle.scores = cycle.lognorm[:3], cycle.scores[:2, :2, :2]
    found = replay(run, ["greedy"])[0]
    assert found.cycles.tolist() == list(range(len(run.cycles)))
    assert (found.ranks[::2, 3] == -1).all()
    assert np.array_equal(found.ranks[1::2], whole.ranks[1::2])
    assert np.array_equal(found.accepted[1::2], whole.accepted[1::2])
    assert (found.ranks[::2, :3] < 2).all()


def test_a_run_without_a_corrector_follows_the_draft_logits():
    run = make_run(slots=4, pool=3, cycles=3, method="dflash", head=False)
    for found in replay(run, ["greedy", "global-sum", "beam:2"]):
        assert (found.ranks == 0).all()


def test_cycles_without_candidates_are_left_out():
    run = decode(3, length=12, slots=3, pool=3)
    run.cycles[1].candidates = None
    assert 1 not in replay(run, ["greedy"])[0].cycles


@pytest.mark.parametrize(
    ("run", "name", "sentence"),
    [
        (make_run(method="none"), "greedy", "holds no candidates"),
        (make_run(record="light"), "greedy", "holds no candidates"),
        (make_run(), "viterbi", "unknown walk 'viterbi'"),
        (make_run(), "beam:0", "W is a whole number"),
    ],
)
def test_what_cannot_be_replayed_is_explained(run, name, sentence):
    with pytest.raises(ValueError, match=sentence):
        replay(run, [name])


def test_a_cut_needs_probabilities():
    run = decode(1, length=8, slots=3, pool=3)
    run.cycles[0].lognorm = None
    replay(run, ["greedy"])
    with pytest.raises(ValueError, match="without them"):
        replay(run, ["greedy+cut:0.5"])


def test_pairs_and_the_histogram_by_hand():
    base = replay(decode(1, length=8, slots=3, pool=3), ["greedy"])[0]
    ours = base._replace(accepted=np.array([2, 0, 1, 3]), ranks=np.zeros((4, 3), np.int64))
    theirs = ours._replace(accepted=np.array([1, 0, 2, 0]))
    assert paired(ours, theirs) == (0.75, 2, 1, 1)
    assert paired(theirs, ours) == (-0.75, 1, 2, 1)
    assert histogram(ours).tolist() == [1, 1, 1, 1]
    assert ours.mean == 1.5


def test_a_deviation_names_the_cycle_the_slot_and_the_margin():
    run = decode(2, length=10, slots=4, pool=3, limit=1)
    cycle = run.cycles[2]
    other = (int(cycle.ranks[2]) + 1) % 3
    cycle.ranks = cycle.ranks.copy()
    cycle.ranks[2] = other
    (found,) = deviations(run)
    row = cycle.scores[1, cycle.ranks[1]].astype(float)
    assert found == (2, 2, row.max() - row[other], 0)


@pytest.mark.parametrize("walk", ["global-sum", "geometric:0.5"])
def test_the_margin_of_a_sum_is_that_of_the_paths(walk):
    run = decode(4, length=10, slots=3, pool=3, walk=walk, limit=1)
    cycle, best = run.cycles[0], run.cycles[0].ranks.copy()
    cycle.ranks = best.copy()
    cycle.ranks[1] = (best[1] + 1) % 3
    weight = 0.5 if walk.endswith("0.5") else 1.0

    def worth(ranks):
        steps = path_scores(cycle, ranks)
        return steps[0] + weight * steps[1]

    (found,) = deviations(run)
    assert found.margin == worth(best) - worth(cycle.ranks) >= 0


@pytest.mark.parametrize("path", sorted((ROOT / "assets" / "traces").glob("*.parquet")), ids=lambda p: p.stem)
def test_recorded_traces_replay_as_the_engine_chose_up_to_ties(path):
    for run in files.load(path):
        if not any(cycle.candidates is not None for cycle in run.cycles):
            continue
        found, tied = replay(run, [run.request.walk])[0], {d.cycle: d for d in deviations(run)}
        assert all(d.margin == 0 and d.accepted == 0 for d in tied.values())
        for row, index in enumerate(found.cycles.tolist()):
            cycle = run.cycles[index]
            assert found.submitted[row] == cycle.submitted
            assert found.committed[row] == len(cycle.committed)
            assert np.array_equal(found.ranks[row], cycle.ranks) == (index not in tied)


def test_nothing_of_the_run_is_changed():
    run = decode(7, length=12, slots=4, pool=4)
    before = copy.deepcopy(run)
    replay(run, ["greedy", "beam:2+top:2+cut:0.1+k:3"], pool=2, slots=2)
    for cycle, was in zip(run.cycles, before.cycles, strict=True):
        assert np.array_equal(cycle.scores, was.scores) and np.array_equal(cycle.logits, was.logits)


@given(RUNS, st.sampled_from(RULES), st.integers(1, 4))
def test_fewer_slots_need_no_second_replay(run, rule, slots):
    whole, wanted = replay(run, [rule], slots=4)[0], replay(run, [rule], slots=slots)[0]
    assert all(np.array_equal(a, b) for a, b in zip(limited(whole, slots)[1:], wanted[1:], strict=True))


def test_of_a_run_that_left_its_slots_to_the_moment_its_own_number_of_them_is_replayed():
    run = make_run(cycles=6, submit=2)
    run.request.walk = "greedy+auto"
    for cycle in run.cycles[::2]:
        cycle.submitted, cycle.accepted = 1, min(cycle.accepted, 1)
    auto, whole = replay(run, ["greedy+auto", "greedy"])
    np.testing.assert_array_equal(auto.submitted, [cycle.submitted for cycle in run.cycles])
    np.testing.assert_array_equal(auto.ranks, whole.ranks)
    np.testing.assert_array_equal(auto.accepted, np.minimum(whole.accepted, auto.submitted))
    with pytest.raises(ValueError, match="no record holds"):
        replay(run, ["beam:2+auto"])
    with pytest.raises(ValueError, match="no record holds"):
        replay(make_run(), ["greedy+auto"])
