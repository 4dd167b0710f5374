"""Every metric of the run in conftest.py, worked out by hand."""

import numpy as np
import pytest

from dcoco_viz.metrics.coverage import coverage
from dcoco_viz.metrics.origin import origins
from dcoco_viz.metrics.prefix import accepted_histogram, mean_prefixes, prefixes, tau, truth
from dcoco_viz.metrics.summary import summary
from dcoco_viz.metrics.timing import speedup, timing
from dcoco_viz.trace.check import check
from dcoco_viz.trace.schema import Request, Run
from tests.unit.factory import make_run
from tests.unit.metrics.conftest import cycle

ARRAYS = ("candidates", "logits", "lognorm", "scores", "ranks", "verifier", "drafted_logprob")


def light(run: Run) -> Run:
    """The same run as level `light` records it."""
    for c in run.cycles:
        for name in ARRAYS:
            setattr(c, name, None)
    check([run])
    return run


def test_truth(run):
    assert [truth(run, c).tolist() for c in run.cycles] == [
        [11, 12, 13, 14],
        [15, 16, 17, -1],
        [16, 17, -1, -1],
    ]


def test_tau_is_pooled(run):
    assert tau(run) == (4 + 1 + 2) / 3


def test_accepted(run):
    # lengths 3, 0 and 2; up to 4 were submitted
    assert accepted_histogram(run).tolist() == [1, 0, 1, 1, 0]
    assert summary(run).accepted == [3, 0, 2]


def test_prefixes(run):
    # cycle 0: argmax 11 91; chosen 11 12 13 93; the pool lacks 14
    # cycle 1: argmax 90; chosen 90, and 16 17 after it do not count; the pool has 15 16 17, then the run ends
    # cycle 2: all three hold 16 17, then the run ends
    assert [tuple(prefixes(run, c)) for c in run.cycles] == [(1, 3, 3), (0, 0, 3), (2, 2, 2)]
    assert mean_prefixes([run]) == (1, pytest.approx(5 / 3), pytest.approx(8 / 3))


def test_coverage(run):
    share, counts = coverage([run], ks=(1, 2, 4))
    assert counts.tolist() == [3, 3, 2, 1]  # the run ends before slot 4 of cycle 1 and slots 3, 4 of cycle 2
    # slot 1: 11 y, 15 n, 16 y; slot 2: 12 n, 16 y, 17 y; slot 3: 13 y, 17 n; slot 4: 14 n
    np.testing.assert_allclose(share[1], [2 / 3, 2 / 3, 1 / 2, 0])
    np.testing.assert_allclose(share[2], [1, 1, 1, 0])
    assert np.isnan(share[4]).all()  # a pool of 2 does not say


def test_coverage_of_several_runs_is_pooled(run):
    twice, once = coverage([run, run]), coverage([run])
    assert twice.counts.tolist() == [6, 6, 4, 2]
    np.testing.assert_array_equal(twice.share[1], once.share[1])


def test_origins(run):
    assert origins(run) == "prefill draft corrected draft bonus bonus draft draft".split()


def test_timing(run):
    assert timing(run) == (4, 0.3, 20, 2.0)  # medians; 7 tokens after the first in 3.5 s


def test_summary(run):
    assert summary(run)._asdict() == {
        "method": "dcoco",
        "walk": "greedy",
        "slots": 15,
        "cycles": 3,
        "output_tokens": 8,
        "tau": 7 / 3,
        "accepted": [3, 0, 2],
        "seconds": 3.5,
        "ttft_s": 0.0,
        "tokens_per_second": 2.0,
        "draft_ms": 4,
        "head_ms": 0.3,
        "verify_ms": 20,
        "top1": 1.0,
        "selected": pytest.approx(5 / 3),
        "oracle": pytest.approx(8 / 3),
    }


def test_a_light_record_keeps_what_needs_no_candidates(run):
    full = summary(run)
    light(run)
    assert prefixes(run, run.cycles[0]) is None and mean_prefixes([run]) is None
    assert summary(run) == full._replace(top1=None, selected=None, oracle=None)
    assert truth(run, run.cycles[2]).tolist() == [16, 17]  # only the submitted slots are known
    share, counts = coverage([run])
    assert counts.shape == (0,) and share[1].shape == (0,)
    assert origins(run) == "prefill draft draft draft bonus bonus draft draft".split()


def test_a_chosen_path_counts_beyond_what_was_submitted(run):
    c = run.cycles[0]
    c.submitted, c.accepted, c.drafted = 1, 1, c.drafted[:1]
    assert prefixes(run, c).selected == 3  # 11, then 12 and 13 by their ranks


def test_a_token_from_outside_the_pool(run):
    c = run.cycles[0]
    c.candidates[1], c.ranks[1] = [91, 92], -1  # 12 was drafted, though no candidate
    assert tuple(prefixes(run, c)) == (1, 3, 1)
    assert origins(run)[1:4] == ["draft", "corrected", "draft"]
    c.submitted, c.drafted = 1, c.drafted[:1]  # not submitted: what it was is not known
    assert prefixes(run, c).selected == 1


def test_a_step_without_a_draft(run):
    plain = run.cycles[1]
    plain.submitted, plain.drafted, plain.draft_ms, plain.head_ms = 0, plain.drafted[:0], 0.0, 0.0
    for name in ARRAYS:
        setattr(plain, name, None)
    check([run])
    assert tau(run) == 7 / 3  # it is a cycle
    assert accepted_histogram(run).tolist() == [0, 0, 1, 1, 0]  # but no draft
    assert timing(run).draft_ms == (2 + 9) / 2
    assert origins(run)[5] == "plain"
    assert coverage([run]).counts.tolist() == [2, 2, 1, 1]


def test_method_none(run):
    none = Run("n", Request(prompt="x", method="none"), [1, 2, 3], [10, 11, 12], seconds=0.5)
    for i in range(2):
        c = cycle(i, 3 + i, 10 + i, [[0, 1]] * 4, [0] * 4, 0, 0, [11 + i], (0.0, 0.0, 7.0))
        for name in ARRAYS:
            setattr(c, name, None)
        none.cycles.append(c)
    none.pieces = {10: "a", 11: "b", 12: "c"}
    check([none])
    assert tau(none) is None
    assert accepted_histogram(none).tolist() == [0]
    assert timing(none) == (None, None, 7.0, 4.0)
    assert origins(none) == ["prefill", "plain", "plain"]
    assert speedup(run, none) == 2.0 / 4.0


@pytest.mark.parametrize("tokens", [[], [10]])
def test_a_run_without_cycles(run, tokens):
    empty = Run("e", Request(prompt="x"), [1, 2, 3], tokens)
    got = summary(empty)
    assert (got.cycles, got.output_tokens, got.tau, got.accepted) == (0, len(tokens), None, [])
    assert got.tokens_per_second is got.draft_ms is got.verify_ms is got.oracle is None
    assert accepted_histogram(empty).tolist() == [0]
    assert origins(empty) == ["prefill"] * len(tokens)
    assert coverage([empty]).counts.shape == coverage([]).counts.shape == (0,)
    assert speedup(run, empty) is speedup(empty, run) is speedup(run, None) is None


def test_a_stopped_run_whose_records_are_behind(run):
    run.cycles.pop()
    run.finish_reason = "abort"
    check([run])
    assert tau(run) == (4 + 1) / 2
    assert origins(run)[-2:] == ["plain", "plain"]
    assert truth(run, run.cycles[1]).tolist() == [15, 16, 17, -1]  # the text is known all the same


def test_a_run_that_was_not_recorded(run):
    run.cycles, run.request.record = [], "off"
    check([run])
    assert tau(run) is None and summary(run).tokens_per_second == 2.0
    assert origins(run) == ["prefill"] + ["plain"] * 7


def test_a_dense_record_has_no_tau_and_no_speed():
    """It says what the drafter saw, at every position, and what that cost; not how the method decodes."""
    dense = make_run(record="dense", cycles=5)
    check([dense])
    got = summary(dense)
    assert got.tau is got.tokens_per_second is speedup(dense, dense) is None
    assert got.cycles == 5 and got.accepted == [0] * 5 and accepted_histogram(dense).tolist() == [0]
    assert origins(dense) == ["prefill"] + ["plain"] * 5
    assert got.draft_ms == np.median([c.draft_ms for c in dense.cycles]) > 0
    assert coverage([dense]).counts.tolist() == [5, 4, 3, 2]  # every position but the first was drafted for
    assert None not in (got.top1, got.selected, got.oracle)
