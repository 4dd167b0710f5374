"""What Compare asks the engine for, and what it refuses."""

import pytest

from dcoco_viz.tabs import ask
from dcoco_viz.tabs.compare_round import WARM_TOKENS, Round
from dcoco_viz.tabs.compare_setup import MOST, START, rows_of, ways
from dcoco_viz.trace.schema import Request
from tests.unit.factory import make_run

ROWS = list(START)
A, B, PLAIN = (
    {"method": "dcoco", "walk": "greedy", "slots": 15},
    {"method": "dflash", "walk": "greedy", "slots": 15},
    {"method": "none"},
)


@pytest.fixture
def asked():
    fields = Request(prompt="Hello", max_tokens=24).model_dump()
    return {name: fields[name] for name in ask.FIELDS if name in fields}


def test_the_baseline_comes_last_and_once():
    assert ways(ROWS, baseline=True) == [A, B, PLAIN]
    assert ways(ROWS, baseline=False) == [A, B]
    assert ways([("none", "greedy", 15), *ROWS], baseline=True) == [PLAIN, A, B]


def test_a_walk_gets_its_own_name():
    assert ways([("dcoco", " greedy+k:4+top:2 ", 9), ROWS[1]], baseline=False)[0]["walk"] == "greedy+top:2+k:4"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([ROWS[0], ("dcoco", "sideways", 15)], "Entry 2: unknown walk 'sideways'"),
        ([ROWS[0], ("dcoco", None, 15)], "Entry 2: unknown walk ''"),
        ([ROWS[0], ROWS[1], ROWS[0]], "Entries 1 and 3 are the same: change one of them."),
        ([("none", "greedy", 3), ("none", "beam:2", 4)], "Entries 1 and 2 are the same"),
    ],
)
def test_entries_that_cannot_be(rows, sentence):
    with pytest.raises(ValueError) as error:
        ways(rows, baseline=True)
    assert str(error.value).startswith(sentence)


def test_rows_in_use():
    values = (*"abcd", *"efgh", *range(MOST))
    assert rows_of(3, values) == [("a", "e", 0), ("b", "f", 1), ("c", "g", 2)]


def test_repeats_are_interleaved(asked):
    turns = Round(asked, [A, B, PLAIN], 2)
    assert [request.method for request in turns.requests] == ["dcoco", "dflash", "none"] * 2
    assert [turns.name(i) for i in range(4)] == ["DCOCO", "DFlash", "No speculation", "DCOCO"]


def test_warming_up_is_short_and_leaves_no_record(asked):
    turns = Round(asked, [A, B], 3)
    assert [(r.method, r.max_tokens, r.record) for r in turns.warming] == [
        ("dcoco", WARM_TOKENS, "off"),
        ("dflash", WARM_TOKENS, "off"),
    ]
    assert {request.record for request in turns.requests} == {"full"}


def test_a_bad_question_is_refused(asked):
    with pytest.raises(ValueError, match="Type a prompt first"):
        Round(asked | {"prompt": " "}, [A, B], 1)


def test_runs_belong_to_entries_in_turn(asked):
    turns, runs = Round(asked, [A, B], 2), [make_run(seed=seed) for seed in range(3)]
    assert [[run.id for run in entry.runs] for entry in turns.entries(runs)] == [["run-0", "run-2"], ["run-1"]]
    runs[1].token_ids = []  # stopped before its first token
    assert [[run.id for run in entry.runs] for entry in turns.entries(runs)] == [["run-0", "run-2"]]
    assert turns.entries([]) == []
