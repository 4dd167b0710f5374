"""Which chat a reply goes on from."""

import pytest

from dcoco_viz.tabs.thread import answer, chat
from dcoco_viz.trace.schema import Turn
from tests.unit.factory import make_run


@pytest.fixture
def run():
    run = make_run(cycles=2)
    run.pieces = {t: f" w{t}" for t in run.pieces}
    run.token_ids = [1, 3, 2, 5]  # 2 is a special token
    run.prompt_ids = [7, 9, 11]
    return run


def test_a_reply_appends_prompt_and_answer(run):
    run.request.history = [Turn(role="user", content="a"), Turn(role="assistant", content="b")]
    assert chat(run) == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": run.request.prompt},
        {"role": "assistant", "content": " w1 w3 w5"},
    ]


def test_the_answer_of_a_branch_begins_with_its_parents(run):
    run.request.continued = [9, 11]
    assert answer(run) == " w9 w11 w1 w3 w5"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda run: setattr(run, "finish_reason", None), "still being decoded"),
        (lambda run: setattr(run.request, "raw", True), "no chat to reply in"),
        (lambda run: setattr(run, "token_ids", [2]), "answer is empty"),
    ],
)
def test_no_reply(run, change, sentence):
    change(run)
    with pytest.raises(ValueError, match=sentence):
        chat(run)
