"""Where two walks part, and the picture of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.lab.lesson import lesson
from dcoco_viz.lab.parting import partings, picture
from dcoco_viz.lab.replay import replay
from dcoco_viz.metrics.prefix import truth
from tests.unit.factory import make_run
from tests.unit.lab.decoding import PROMPT, decode

RUNS = st.builds(
    decode,
    st.integers(0, 10_000),
    length=st.integers(2, 14),
    slots=st.integers(2, 4),
    pool=st.integers(2, 4),
)


@given(RUNS, st.sampled_from(["global-sum", "greedy+cut:0.3", "greedy"]))
def test_partings_against_a_loop(run, name):
    a, b = replay(run, ["greedy", name])
    wanted = {}
    for row, cycle in enumerate(a.cycles.tolist()):
        ours = run.cycles[cycle].candidates[range(len(a.ranks[row])), a.ranks[row]].tolist()[: a.submitted[row]]
        theirs = run.cycles[cycle].candidates[range(len(b.ranks[row])), b.ranks[row]].tolist()[: b.submitted[row]]
        if ours != theirs:
            slot = 0
            while slot < min(len(ours), len(theirs)) and ours[slot] == theirs[slot]:
                slot += 1
            wanted[cycle] = slot, (a.accepted[row], b.accepted[row])
    found = partings(a, b)
    assert {p.cycle: (p.slot, p.accepted) for p in found} == wanted
    gaps = [abs(p.accepted[0] - p.accepted[1]) for p in found]
    assert gaps == sorted(gaps, reverse=True)


@given(RUNS)
def test_the_picture_holds_both_paths_and_the_truth(run):
    a, b = replay(run, ["greedy", "global-sum"])
    for row, index in enumerate(a.cycles.tolist()):
        cycle, shown = run.cycles[index], picture(run, index, a, b)
        true = truth(run, cycle)
        assert shown.truth == true.tolist() and shown.anchor == cycle.anchor
        for path, replayed in zip(shown.paths, (a, b), strict=True):
            ranks = replayed.ranks[row].tolist()
            steps = [float(s[x, y]) for s, x, y in zip(cycle.scores, ranks, ranks[1:], strict=False)]
            assert path.ranks == ranks and path.steps == steps
            assert path.sums == [sum(steps[:n]) for n in range(len(ranks))]
            assert (path.submitted, path.accepted) == (replayed.submitted[row], replayed.accepted[row])
        for slot, nodes in enumerate(shown.nodes):
            for node in nodes:
                assert node.token == cycle.candidates[slot, node.rank]
                assert node.true == (node.token == true[slot])
                assert node.on == (a.ranks[row, slot] == node.rank, b.ranks[row, slot] == node.rank)
                assert any(node.on) or node.true
                assert node.probability == pytest.approx(
                    np.exp(float(cycle.logits[slot, node.rank]) - float(cycle.lognorm[slot]))
                )
            assert any(n.true for n in nodes) == (true[slot] in cycle.candidates[slot])


def test_a_cycle_without_candidates_has_no_picture():
    run = decode(3, length=12, slots=3, pool=3)
    run.cycles[0].candidates = None
    a, b = replay(run, ["greedy", "global-sum"])
    with pytest.raises(ValueError, match="no candidates"):
        picture(run, 0, a, b)


def one_cycle(text, scores):
    """A run of one cycle over tokens 0 and 1, two candidates a slot, both slots after the first free."""
    run = decode(0, length=2, slots=3, pool=2)
    run.token_ids = [0, *text]
    cycle = run.cycles[0]
    cycle.anchor_position, cycle.submitted, cycle.clipped = len(PROMPT), 3, False
    cycle.candidates = np.array([[0, 1]] * 3, np.int32)
    cycle.logits = np.array([[2, 1]] * 3, np.float32)
    cycle.scores = np.array(scores, np.float16)
    return run


TRADE = [[[2.0, 1.5], [0, 0]], [[0.0, 0.0], [3.0, 0.0]]]  # greedy 0 0 0: 2; global-sum 0 1 0: 4.5


def test_the_sum_gives_an_early_slot_for_a_later_one():
    run = one_cycle([0, 0, 0, 1], TRADE)
    found = lesson(run)
    greedy, total = found.lost.paths
    assert (greedy.ranks, total.ranks) == ([0, 0, 0], [0, 1, 0])
    assert (greedy.accepted, total.accepted) == (3, 1)
    assert (greedy.sums[-1], total.sums[-1]) == (2.0, 4.5)
    assert found.lost.parts == 1
    assert found.won is None and found.parted == 1 and found.paired == (-2.0, 0, 1, 0)


def test_the_sum_can_win():
    found = lesson(one_cycle([0, 1, 0, 1], TRADE))
    assert found.lost is None and found.won.cycle == 0
    assert [path.accepted for path in found.won.paths] == [1, 3]
    assert found.paired == (2.0, 1, 0, 0)


def test_paths_that_differ_behind_the_rejection_teach_nothing():
    found = lesson(one_cycle([1, 0, 0, 1], TRADE))
    assert found.lost is None and found.won is None and found.parted == 1


def test_without_a_corrector_nothing_parts():
    found = lesson(make_run(method="dflash", head=False, cycles=4))
    assert not found.scored and found.parted == 0
    assert lesson(one_cycle([0, 0, 0, 1], TRADE)).scored
