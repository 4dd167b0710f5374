"""What a branch decodes, and the sentences for what is no branch."""

import pytest

from dcoco_viz.tabs.branch import SHORTEST, request
from dcoco_viz.trace.schema import Parent, Request
from tests.unit.factory import make_run

META = {"preset": "test"}


@pytest.fixture
def run():
    run = make_run(slots=6, pool=4, cycles=5, seed=3)
    run.request = Request(
        prompt="p", system="s", method="dcoco", walk="greedy", slots=9, temperature=0.5, seed=8, max_tokens=100
    )
    run.finish_reason = "length"
    run.meta["special_ids"] = []
    return run


def place(run, cycle, slot, rank):
    return Parent(run=run.id, cycle=cycle, slot=slot, rank=rank)


@pytest.mark.parametrize(("cycle", "slot", "rank"), [(0, 1, 0), (1, 2, 3), (2, 1, 2)])
def test_it_goes_on_from_the_text_before_the_slot(run, cycle, slot, rank):
    where = run.cycles[cycle]
    kept = run.token_ids[: where.anchor_position + slot - len(run.prompt_ids)]
    assert kept[-slot] == where.anchor
    asked = request(run, place(run, cycle, slot, rank), META)
    assert asked.continued == [*kept, where.candidates[slot - 1, rank]]
    assert asked.parent == place(run, cycle, slot, rank)
    assert asked.max_tokens == 100 - len(kept) - 1
    same = {"prompt", "system", "history", "method", "walk", "slots", "temperature", "seed", "raw", "stop"}
    assert asked.model_dump(include=same) == run.request.model_dump(include=same)


def test_a_branch_of_a_branch_keeps_what_its_parent_went_on_from(run):
    run.request.continued = [4, 5]
    assert request(run, place(run, 0, 1, 1), META).continued[:3] == [4, 5, run.token_ids[0]]


def test_it_has_room_for_some_tokens_and_records_all(run):
    run.request.max_tokens, run.request.record = 2, "dense"
    asked = request(run, place(run, 1, 1, 0), META)
    assert (asked.max_tokens, asked.record) == (SHORTEST, "full")


def test_behind_a_cut_off_text_there_is_one_more_place_and_behind_an_ended_one_none(run):
    cut(run)
    assert request(run, place(run, 4, 2, 0), META).continued[:-1] == run.token_ids
    run.finish_reason = "stop"
    with pytest.raises(ValueError, match="The text ends before this slot"):
        request(run, place(run, 4, 2, 0), META)


def cut(run):
    """Leave the last cycle one token."""
    last = run.cycles[-1]
    last.committed = last.committed[:1]
    del run.token_ids[last.anchor_position - len(run.prompt_ids) + 2 :]


@pytest.mark.parametrize(
    ("where", "change", "sentence"),
    [
        ((4, 3, 0), {}, "The text ends before this slot"),
        ((5, 1, 0), {}, "This run has 5 cycles: there is no cycle 6"),
        ((0, 7, 0), {}, "6 slots of 4 candidates"),
        ((0, 1, 4), {}, "6 slots of 4 candidates"),
        ((0, 1, 0), {"finish_reason": None}, "still being decoded"),
        ((0, 1, 0), {"meta": {"preset": "other"}}, r"another model \(other\) than the one that is loaded \(test\)"),
        ((0, 1, 0), {"meta": {}}, r"another model \(unknown\)"),
        ((0, 1, 0), {"meta": {"preset": "test", "special_ids": list(range(40))}}, "nothing can be decoded behind it"),
    ],
)
def test_no_branch(run, where, change, sentence):
    for name, value in change.items():
        setattr(run, name, value)
    cut(run)
    with pytest.raises(ValueError, match=sentence):
        request(run, place(run, *where), META)


def test_without_candidates_there_is_no_choice(run):
    run.cycles[0].candidates = None
    with pytest.raises(ValueError, match="No candidates were recorded"):
        request(run, place(run, 0, 1, 0), META)


def test_the_verifiers_hash_decides_where_both_have_one(run):
    run.meta |= {"preset": "mine", "verifier": "abc"}
    assert request(run, place(run, 0, 1, 0), {"preset": "test", "verifier": "abc"})
    with pytest.raises(ValueError, match="another model"):
        request(run, place(run, 0, 1, 0), {"preset": "mine", "verifier": "abd"})
