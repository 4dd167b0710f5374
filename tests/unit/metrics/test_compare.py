"""Runs beside each other: by hand, and against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.metrics.compare import (
    FIGURES,
    Evidence,
    arrivals,
    cycle_ms,
    differing,
    evidence,
    figures,
    finished,
    located,
    parting,
    shared,
    typical,
)
from dcoco_viz.metrics.names import DEFINITIONS
from dcoco_viz.metrics.origin import origins
from dcoco_viz.metrics.prefix import tau
from dcoco_viz.metrics.timing import tokens_per_second
from tests.unit.factory import make_run
from tests.unit.metrics.retold import retold

RUNS = st.builds(
    make_run,
    slots=st.integers(1, 6),
    cycles=st.integers(1, 6),
    submit=st.sampled_from([None, 1]),
    cut=st.integers(0, 3),
    method=st.sampled_from(["dcoco", "none"]),
    seed=st.integers(0, 10_000),
)


@pytest.fixture
def run():
    """10 output tokens: the prefill token, and cycles that commit 1, 3, 2, 1 and, clipped, 2."""
    run = make_run(cycles=4, seed=3)
    return retold(run, "first", tokens=[5, 1, 2, 3, 4, 6, 7, 8, 9, 10])


def timed(run, seconds, finish="length"):
    other = retold(run, f"{seconds} s", accepted=(1,))
    other.seconds, other.finish_reason = seconds, finish
    return other


def test_the_typical_run_has_the_median_time(run):
    assert typical([timed(run, s) for s in (4, 1, 2)]).seconds == 2
    assert typical([timed(run, s) for s in (4, 1, 2, 3)]).seconds == 2  # of two in the middle the faster
    assert typical([timed(run, 7)]).seconds == 7


def test_broken_runs_count_only_where_there_is_no_other(run):
    whole, broken = timed(run, 4), [timed(run, 1, "abort"), timed(run, 2, None), timed(run, 3, "error")]
    assert finished([*broken, whole]) == [whole] and typical([*broken, whole]) is whole
    assert finished(broken) == broken and typical(broken).seconds == 2


def test_figures_are_medians_with_their_range(run):
    entry = [timed(run, s) for s in (1.0, 4.0, 2.0)]
    plain = retold(run, "plain", method="none")
    plain.seconds = 9.0  # 9 tokens after the first: 1 token a second
    got = figures(entry, [plain])
    assert got["tokens_per_second"] == (4.5, 2.25, 9.0)
    assert got["speedup"] == (4.5, 2.25, 9.0)
    assert got["tau"] == (9 / 5,) * 3 and got["cycles"] == (5,) * 3 and got["output_tokens"] == (10,) * 3
    assert got["cycle_ms"] == pytest.approx((50,) * 3) and got["draft_ms"] == pytest.approx((10,) * 3)
    assert figures(entry, [])["speedup"] is None


def test_each_repeat_is_held_against_the_plain_run_of_its_own_round(run):
    plain = [retold(run, f"plain{i}", method="none") for i in range(3)]
    for i, seconds in enumerate((8.0, 2.0, 4.0)):  # a machine that drifts, and both with it
        plain[i].seconds = seconds
    entry = [timed(run, s) for s in (4.0, 1.0, 2.0)]
    assert figures(entry, plain)["speedup"] == (2, 2, 2) and figures(plain, plain)["speedup"] == (1, 1, 1)
    assert figures(entry[:2], plain)["speedup"].high == 4  # not as many: against the typical one


def test_figures_of_plain_decoding(run):
    plain = retold(run, "plain", method="none")
    got = figures([plain], [plain])
    assert got["tau"] is got["draft_ms"] is got["head_ms"] is None
    assert got["speedup"] == (1, 1, 1) and got["cycle_ms"] == got["verify_ms"] == (50, 50, 50)


def test_figures_of_a_run_without_cycles(run):
    run.cycles, run.token_ids, run.finish_reason = [], run.token_ids[:1], "abort"
    got = figures([run], [])
    assert got.pop("cycles") == (0, 0, 0) and got.pop("output_tokens") == (1, 1, 1)
    assert not any(got.values()) and cycle_ms(run) is None


def test_what_was_asked_differently(run):
    same = [run, retold(run, "b"), retold(run, "c", method="none")]
    assert differing(same) == differing([run]) == differing([]) == []
    for change in ({"temperature": 0.5}, {"max_tokens": 7}, {"stop": ["x"]}):
        assert differing([*same, retold(run, "d", **change)]) == list(change)
    assert differing([run, retold(run, "d", seed=9)]) == []  # at T = 0 nothing is drawn
    warm = retold(run, "d", seed=9, temperature=1.0)
    assert differing([warm, retold(run, "e", seed=8, temperature=1.0)]) == ["seed"]
    other = retold(run, "f")
    other.prompt_ids = [*other.prompt_ids[:-1], 99]
    assert differing([run, other]) == ["prompt"]


def test_where_texts_part(run):
    tokens = run.token_ids
    assert parting([run, retold(run, "b")]) is parting([run]) is parting([]) is None
    assert parting([run, retold(run, "b", tokens=[*tokens[:4], 30, *tokens[5:]])]) == 4
    short = retold(run, "b", tokens=tokens[:6])
    for end, wanted in (("stop", 6), ("length", None), ("abort", None), (None, None)):
        short.finish_reason = end
        assert parting([run, short]) == parting([short, run]) == wanted
    assert parting([short, short, run, retold(run, "c", tokens=[*tokens[:8], 30, 30])]) == 8


def test_where_and_when_tokens_came(run):
    assert located(run).tolist() == [-1, 0, 1, 1, 1, 2, 2, 3, 4, 4]
    assert arrivals(run).tolist() == [0, 50, 100, 100, 100, 150, 150, 200, 250, 250]


def test_tokens_whose_records_are_behind_come_at_the_end(run):
    run.cycles, run.seconds = run.cycles[:2], 0.4
    assert located(run).tolist() == [-1, 0, 1, 1, 1, -1, -1, -1, -1, -1]
    assert arrivals(run).tolist() == [0, 50, 100, 100, 100] + [400] * 5


@given(RUNS)
def test_every_cycle_brings_its_tokens_at_its_moment(run):
    at, where = arrivals(run), located(run)
    assert len(at) == len(where) == len(run.token_ids) and at[0] == 0 and (np.diff(at) >= 0).all()
    for cycle in run.cycles:
        assert (at[where == cycle.index] == cycle.at_ms).all()
        assert np.array(run.token_ids)[where == cycle.index].tolist() == cycle.committed.tolist()


def test_evidence():
    run = make_run(
        slots=4, cycles=1, seed=next(s for s in range(99) if make_run(cycles=1, seed=s).cycles[0].accepted == 2)
    )
    (cycle,) = run.cycles
    first, second, third = run.token_ids[1:]
    assert evidence(run, 0) == Evidence(run.token_ids[0], "prefill", None, None, None)
    for position, token in ((1, first), (2, second)):
        got = evidence(run, position)
        assert got.token == got.drafted == token and got.cycle == 0
        assert got.logprob == cycle.drafted_logprob[position - 1]
    refused = evidence(run, 3)
    assert (refused.token, refused.origin, refused.drafted) == (third, "bonus", cycle.drafted[2])
    assert refused.logprob == cycle.drafted_logprob[2]
    assert evidence(run, 4) == evidence(run, -1) == Evidence(None, None, None, None, None)
    cycle.drafted_logprob = None
    assert evidence(run, 3).logprob is None


def test_the_token_behind_a_whole_block_had_no_draft():
    run = make_run(
        submit=1, cycles=1, seed=next(s for s in range(99) if make_run(submit=1, cycles=1, seed=s).cycles[0].accepted)
    )
    assert evidence(run, 2) == Evidence(run.token_ids[2], "bonus", 0, None, None)


def test_who_drafted_what(run):
    # accepted 0 2 1 0 2, clipped:  p b d d b d b b d d;   2 0:  p d d b b d d b b d
    other = retold(run, "b", accepted=(2, 0))
    assert [o[0] for o in origins(other)] == list("pddbbddbbd")
    assert shared([run, other]) == ([2, 2], 3, 0, 3)
    third = retold(run, "c", accepted=(4,))  # p d d d d b d d d d
    assert shared([run, other, third]) == ([0, 0, 2], 2, 5, 1)
    assert shared([]) == ([], 0, 0, 0)


@given(st.lists(RUNS, min_size=2, max_size=4))
def test_every_position_has_one_place(runs):
    got = shared(runs)
    length = min(len(run.token_ids) for run in runs)
    assert sum(got.alone) + got.all + got.some + got.none == length
    had = [[o in ("draft", "corrected") for o in origins(run)[:length]] for run in runs]
    assert got.alone == [sum(h[i] and sum(x[i] for x in had) == 1 for i in range(length)) for h in had]


@given(RUNS)
def test_figures_of_one_run_are_its_metrics(run):
    got = figures([run], [run])
    assert tuple(got) == FIGURES and set(FIGURES) <= set(DEFINITIONS)
    for name, value in (("tau", tau(run)), ("tokens_per_second", tokens_per_second(run)), ("cycle_ms", cycle_ms(run))):
        assert got[name] == (None if value is None else (value, value, value))
