"""What the head changed: by hand, and against plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.components.rescues import TOTALS
from dcoco_viz.metrics.names import DEFINITIONS
from dcoco_viz.metrics.rescue import rescues
from dcoco_viz.trace.schema import Cycle, Request, Run
from tests.unit.factory import make_run

RUNS = st.builds(
    make_run,
    slots=st.integers(2, 6),
    pool=st.integers(2, 5),
    cycles=st.integers(1, 6),
    submit=st.sampled_from([None, 1, 2]),
    cut=st.integers(0, 3),
    method=st.sampled_from(["dcoco", "dcoco-anchored", "domino", "selector"]),
    seed=st.integers(0, 10_000),
)


def cycle(index, position, candidates, ranks, n, accepted, committed) -> Cycle:
    candidates, ranks = np.array(candidates, np.int32), np.array(ranks, np.int16)
    drafted, slots = candidates[np.arange(len(ranks)), ranks][:n], len(ranks)
    return Cycle(
        "hand", index, position, 0, "dcoco", "greedy", n, accepted, drafted, np.array(committed, np.int32), 1, 1, 1,
        candidates=candidates, ranks=ranks, scores=np.zeros((slots - 1, 2, 2), np.float16),
    )  # fmt: skip


def hand(*cycles) -> Run:
    """Prompt: 3 tokens. Output: 10 11 ... 17 at positions 3..10; anchors stand where the cycles say."""
    return Run("hand", Request(prompt="x"), [1, 2, 3], list(range(10, 18)), list(cycles), finish_reason="stop")


def test_helped():
    # text 11 12 13; argmax 11 91 13, chosen 11 12 13
    found = rescues(hand(cycle(0, 3, [[11, 90], [91, 12], [13, 92]], [0, 1, 0], 3, 3, [11, 12, 13, 14])))
    assert found[:8] == (1, 1, 1, 0, 2, 0, 1, 0)
    assert found.changes == [(0, (2,), (), 1, 3, 2, 91, 12, 12)]
    assert (found.changes[0].gain, found.neutral, found.rescue_rate, found.harm_rate) == (2, 0, 1.0, 0.0)


def test_harmed():
    # text 11 12 13; argmax 11 12 93, chosen 90 12 93
    found = rescues(hand(cycle(0, 3, [[11, 90], [12, 91], [93, 92]], [1, 0, 0], 3, 0, [11])))
    assert found[:8] == (1, 1, 0, 1, 0, 2, 0, 1)
    assert found.changes == [(0, (), (1,), 2, 0, 1, 11, 90, 11)]
    assert (found.rescue_rate, found.harm_rate) == (0.0, 1.0)


def test_too_late_to_matter():
    # text 11 12 13; both paths fail at slot 1; slot 2 is rescued, slot 3 harmed
    found = rescues(hand(cycle(0, 3, [[90, 11], [91, 12], [13, 92]], [0, 1, 1], 3, 0, [11])))
    assert found[:8] == (1, 1, 0, 0, 0, 0, 1, 1) and found.neutral == 1
    assert found.changes == [(0, (2,), (3,), 0, 0, 2, 91, 12, 12)]


def test_what_was_not_submitted_does_not_count():
    block = [[11, 90], [12, 91], [93, 13]]
    assert rescues(hand(cycle(0, 3, block, [0, 0, 1], 3, 3, [11, 12, 13, 14]))).helped == 1
    found = rescues(hand(cycle(0, 3, block, [0, 0, 1], 2, 2, [11, 12, 13])))
    assert found[:3] == (1, 0, 0) and found.changes == [] and found.rescue_rate is None
    assert rescues(hand(cycle(0, 3, block, [0, 0, 1], 0, 0, [11]))).helped == 1  # a dense record


def test_slots_past_the_end_of_the_text_do_not_count():
    # positions 9, 10 hold 16 17, then the run ends; the third slot has no truth
    found = rescues(hand(cycle(0, 8, [[16, 90], [17, 91], [92, 93]], [0, 0, 1], 3, 2, [16, 17])))
    assert found[:8] == (1, 1, 0, 0, 0, 0, 0, 0) and found.changes == []


def test_the_order():
    gain1 = cycle(0, 3, [[91, 11], [92, 93]], [1, 0], 2, 1, [11, 12])
    none = cycle(1, 5, [[90, 13], [91, 14]], [0, 1], 2, 0, [13])
    loss2 = cycle(2, 6, [[14, 90], [15, 91]], [1, 0], 2, 0, [14])
    gain2 = cycle(3, 7, [[90, 15], [16, 91]], [1, 0], 2, 2, [15, 16, 17])
    found = rescues(hand(gain1, none, loss2, gain2))
    assert [(c.cycle, c.gain) for c in found.changes] == [(3, 2), (0, 1), (2, -2), (1, 0)]
    assert found[:6] == (4, 4, 2, 1, 3, 2) and found.rescue_rate == 0.5 and found.harm_rate == 0.25


def test_every_head_counts():
    # text 11 12 13; argmax 91 12 13, chosen 11 12 13
    one = cycle(0, 3, [[91, 11], [12, 92], [13, 93]], [1, 0, 0], 3, 3, [11, 12, 13, 14])
    one.corrected = np.zeros((3, 2), np.float32)  # as of an anchored head
    assert rescues(hand(one))[:8] == (1, 1, 1, 0, 3, 0, 1, 0)
    one.scores = None  # as of a serial head
    assert rescues(hand(one))[:8] == (1, 1, 1, 0, 3, 0, 1, 0)
    assert rescues(hand(one)).changes == [(0, (1,), (), 0, 3, 1, 91, 11, 11)]


def test_without_a_head():
    assert (
        rescues(make_run(head=False)) is rescues(make_run(method="none")) is rescues(make_run(record="light")) is None
    )


@given(RUNS)
def test_against_a_loop(run):
    text = run.prompt_ids + run.token_ids
    rows, changed = {}, 0
    for c in run.cycles:
        true = text[c.anchor_position + 1 :][: c.submitted]
        argmax = [row[0] for row in c.candidates.tolist()][: len(true)]
        chosen = [row[k] for row, k in zip(c.candidates.tolist(), c.ranks.tolist(), strict=True)][: len(true)]
        changed += any(k != 0 for k in c.ranks[: c.submitted])
        lengths = []
        for path in (argmax, chosen):
            n = 0
            while n < len(true) and path[n] == true[n]:
                n += 1
            lengths.append(n)
        rescued = [j + 1 for j in range(len(true)) if chosen[j] == true[j] != argmax[j]]
        harmed = [j + 1 for j in range(len(true)) if argmax[j] == true[j] != chosen[j]]
        if rescued or harmed:
            rows[c.index] = rescued, harmed, *lengths
    found = rescues(run)
    assert {c.cycle: (list(c.rescued), list(c.harmed), c.top1, c.selected) for c in found.changes} == rows
    assert (found.cycles, found.changed) == (len(run.cycles), changed)
    assert found.helped + found.harmed + found.neutral == found.changed
    for c in found.changes:
        kept = run.cycles[c.cycle]
        assert c.selected >= min(kept.accepted, len(kept.committed))
        assert c.slot in c.rescued + c.harmed
        assert c.truth == (c.chosen if c.slot in c.rescued else c.argmax)
        if c.gain:
            assert c.slot == min(c.top1, c.selected) + 1 and (c.slot in c.rescued) == (c.gain > 0)


def test_every_total_is_defined():
    assert set(TOTALS) <= set(DEFINITIONS)
