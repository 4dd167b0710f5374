"""Every rule of trace/check.py, by breaking it in a sound run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.trace import check as check_module
from dcoco_viz.trace.check import TraceError, check
from tests.unit.factory import make_run


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 5), st.integers(0, 4), st.integers(0, 999))
def test_the_accounting_of_a_sound_run(slots, pool, cycles, cut, seed):
    run = make_run(slots=slots, pool=pool, cycles=cycles, cut=cut, seed=seed)
    check([run])
    assert len(run.token_ids) == 1 + sum(len(c.committed) for c in run.cycles)
    assert all(len(c.committed) == c.accepted + 1 or c.clipped for c in run.cycles)


def put(array, index, value):
    array[index] = value


BREAKS = {
    "cycle 1 of run 1 is out of order": lambda run, c: setattr(c, "index", 5),
    "accepts 5 of 4 submitted": lambda run, c: setattr(c, "accepted", 5),
    "accepts -1 of 4": lambda run, c: setattr(c, "accepted", -1),
    "does not hold the 4 tokens": lambda run, c: setattr(c, "drafted", c.drafted[:-1]),
    "commits .* tokens after accepting": lambda run, c: setattr(c, "committed", c.committed[:-1]),
    "commits other tokens than it accepted": lambda run, c: put(c.committed, 0, (c.committed[0] + 1) % 40),
    "commits tokens that are not in the output": lambda run, c: put(
        c.committed, -1, (c.committed[-1] + 1) % 40
    ),
    "the anchor of cycle 1 of run 1 is not": lambda run, c: setattr(
        c, "anchor_position", c.anchor_position + 1
    ),
    "the anchor of .* is not the last": lambda run, c: setattr(c, "anchor", (c.anchor + 1) % 40),
    "a time that is not": lambda run, c: setattr(c, "verify_ms", float("nan")),
    "a time that .* milliseconds": lambda run, c: setattr(c, "draft_ms", -1.0),
    "cycle 1 of run 1 is committed before": lambda run, c: setattr(c, "at_ms", 249.0),
    "has a time that": lambda run, c: setattr(c, "at_ms", -1.0),
    "verifier's tokens of .* wrong shape": lambda run, c: setattr(c, "verifier", c.verifier[:-1]),
    "verifier's tokens .* range": lambda run, c: put(c.verifier, 0, -1),
    "log-probabilities of .* wrong shape": lambda run, c: setattr(
        c, "drafted_logprob", c.drafted_logprob[:-1]
    ),
    "log-probabilities .* range": lambda run, c: put(c.drafted_logprob, 0, 0.5),
    "log-probabilities .* wrong .* range": lambda run, c: put(c.drafted_logprob, 0, np.nan),
    "scores but no candidates": lambda run, c: setattr(c, "candidates", None),
    "candidates of .* wrong shape$": lambda run, c: setattr(c, "candidates", c.candidates.ravel()),
    "candidates of .* range": lambda run, c: put(c.candidates, (0, 0), -1),
    "logits of .* are not 4 x 3": lambda run, c: setattr(c, "logits", c.logits[:, :2]),
    "logits .* best first": lambda run, c: setattr(c, "logits", c.logits[:, ::-1]),
    "logits of .* numbers": lambda run, c: put(c.logits, (0, 0), np.inf),
    "log-normaliser .* is not 4 numbers": lambda run, c: put(c.lognorm, 0, np.nan),
    "scores of .* are not 3 x 3 x 3 numbers": lambda run, c: put(c.scores, (0, 0, 0), np.nan),
    "transition scores": lambda run, c: setattr(c, "scores", c.scores[:-1]),
    "ranks of .* are not 4 numbers from -1 to 2": lambda run, c: put(c.ranks, 3, 3),
    "ranks .* numbers": lambda run, c: put(c.ranks, 3, -2),
    "do not name the tokens it submitted": lambda run, c: put(c.ranks, 0, (c.ranks[0] + 1) % 3),
    "has an unknown finish reason": lambda run, c: setattr(run, "finish_reason", "tired"),
    "decode time of run 1 is not a time": lambda run, c: setattr(run, "seconds", float("inf")),
    "time to first token of run 1": lambda run, c: setattr(run, "ttft_s", -1),
    "special ids of run 1": lambda run, c: run.meta.update(special_ids="x"),
    "no text for token": lambda run, c: run.pieces.pop(run.token_ids[0]),
    "unusable text for token 1": lambda run, c: run.pieces.update({1: "\ud900"}),
    "unusable text for token -1": lambda run, c: run.pieces.update({-1: "a"}),
    "tokens, its cycles hold": lambda run, c: run.token_ids.append(1),
    "not in the output|more tokens than it has": lambda run, c: run.token_ids.pop(),
}


DENSE = {
    "cycle 1 of run 1 is dense, and submits": lambda c, full: (
        setattr(c, "submitted", 1), setattr(c, "drafted", c.candidates[[0], c.ranks[:1]])
    ),
    "is dense, and has no candidates": lambda c, full: [
        setattr(c, name, None) for name in ("candidates", "logits", "lognorm", "scores", "ranks")
    ],
    "is dense, and has a verdict": lambda c, full: setattr(c, "verifier", full.verifier[:1]),
    "has a verdict on what was not": lambda c, full: setattr(c, "drafted_logprob", full.drafted_logprob[:0]),
}  # fmt: skip


@pytest.mark.parametrize("reason", DENSE)
def test_a_dense_record_drafts_everywhere_and_submits_nothing(reason):
    run = make_run(record="dense", cycles=4)
    check([run])
    assert len(run.token_ids) == 5 and all(c.submitted == 0 and c.scores is not None for c in run.cycles)
    DENSE[reason](run.cycles[1], make_run().cycles[1])
    with pytest.raises(TraceError, match=reason):
        check([run])


def test_only_a_dense_record_keeps_a_block_that_was_not_submitted():
    run = make_run(record="dense")
    run.request.record = "full"
    with pytest.raises(TraceError, match="cycle 0 of run 1 has candidates, and submits none of them"):
        check([run])


@pytest.mark.parametrize("reason", BREAKS)
def test_each_rule_is_noticed(reason):
    run = make_run(seed=3)
    check([run])
    assert run.cycles[1].accepted > 0
    BREAKS[reason](run, run.cycles[1])
    with pytest.raises(TraceError, match=reason):
        check([run])


CORRECTED = {
    "corrected scores of cycle 1 of run 1 are not 4 x 3 numbers": lambda c: setattr(c, "corrected", c.corrected[1:]),
    "corrected scores of .* numbers": lambda c: put(c.corrected, (0, 0), np.inf),
    "scores but no candidates": lambda c: [
        setattr(c, name, None) for name in ("candidates", "logits", "lognorm", "scores", "ranks")
    ],
}


@pytest.mark.parametrize("method", ["domino", "dspark", "dcoco-anchored"])
@pytest.mark.parametrize("reason", CORRECTED)
def test_the_rules_of_corrected_scores(reason, method):
    run = make_run(method=method)
    check([run])
    CORRECTED[reason](run.cycles[1])
    with pytest.raises(TraceError, match=reason):
        check([run])


def test_a_head_that_goes_slot_by_slot_takes_the_best_of_its_row():
    run = make_run(method="domino", seed=3)
    cycle = run.cycles[1]
    other = (cycle.ranks[2] + 1) % 3
    cycle.corrected[2, other] = cycle.corrected[2, cycle.ranks[2]]  # a tie
    check([run])
    cycle.corrected[2, other] += 0.5
    with pytest.raises(TraceError, match="the ranks of cycle 1 of run 1 are not the best of its corrected scores"):
        check([run])
    cycle.corrected[2, other] -= 0.5
    cycle.ranks[3], cycle.drafted[3] = -1, next(t for t in range(40) if t not in cycle.candidates[3])
    with pytest.raises(TraceError, match="the ranks of cycle 1 of run 1 are not the best"):  # it takes from the pool
        check([run])
    anchored = make_run(method="dcoco-anchored", seed=3)  # its path may be any walk's
    anchored.cycles[1].corrected[2, (anchored.cycles[1].ranks[2] + 1) % 3] += 50
    check([anchored])


def test_a_drafted_token_outside_the_pool_has_rank_minus_one():
    run = make_run(seed=3)
    cycle = next(c for c in run.cycles if c.accepted < c.submitted)
    outside = next(t for t in range(40) if t not in cycle.candidates[cycle.accepted])
    cycle.ranks[cycle.accepted], cycle.drafted[cycle.accepted] = -1, outside  # the slot that was refused
    check([run])


def test_a_drafted_token_may_tie_with_the_one_at_its_rank():
    """In half precision logits tie often, and argmax and top-k need not break a tie alike."""
    run = make_run(seed=3)
    cycle = run.cycles[0]
    cycle.ranks[0], cycle.logits[0] = 0, [2.0, 2.0, 1.0]
    cycle.candidates[0] = np.roll(
        cycle.candidates[0], 1 - cycle.candidates[0].tolist().index(cycle.drafted[0])
    )
    assert cycle.candidates[0, 1] == cycle.drafted[0]
    check([run])
    cycle.logits[0, 1] = 1.5
    with pytest.raises(TraceError, match="do not name the tokens it submitted"):
        check([run])


def test_a_run_without_records_has_no_cycles_to_account_for():
    run = make_run(record="off")
    assert not run.cycles and len(run.token_ids) > 1
    check([run])
    run.request.record = "light"
    with pytest.raises(TraceError, match="its cycles hold 1"):
        check([run])


def test_the_records_of_a_stopped_run_may_be_behind_its_tokens():
    run = make_run(seed=3)
    run.cycles.pop()
    for reason in ("abort", "error", None):
        run.finish_reason = reason
        check([run])
    for reason in ("stop", "length"):
        run.finish_reason = reason
        with pytest.raises(TraceError, match="its cycles hold"):
            check([run])


def test_cycles_need_a_prefill_token():
    run = make_run()
    run.token_ids = []
    with pytest.raises(TraceError, match="more tokens than it has"):
        check([run])


def test_the_second_run_is_checked_too():
    run = make_run(seed=3)
    run.cycles[2].index = 7
    with pytest.raises(TraceError, match="cycle 2 of run 2"):
        check([make_run(), run])


def test_cycles_are_counted_over_all_runs(monkeypatch):
    monkeypatch.setattr(check_module, "MAX_CYCLES", 5)
    check([make_run(cycles=3), make_run(cycles=2)])
    with pytest.raises(TraceError, match="more than 5 cycles"):
        check([make_run(cycles=3), make_run(cycles=3)])
