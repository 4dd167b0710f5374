import pytest
from pydantic import ValidationError

from dcoco_viz.trace.schema import Request, Run
from tests.unit.factory import make_run


@pytest.mark.parametrize(
    "wrong",
    [
        {"slots": 0},
        {"slots": 16},
        {"temperature": -0.1},
        {"temperature": 2.5},
        {"temperature": float("nan")},
        {"seed": -1},
        {"max_tokens": 0},
        {"max_tokens": 4097},
        {"record": "everything"},
        {"stop": [""]},
        {"surprise": 1},
    ],
)
def test_a_request_out_of_range_is_refused(wrong):
    with pytest.raises(ValidationError):
        Request(**({"prompt": "x"} | wrong))


def test_half_a_character_in_a_prompt_is_replaced():
    """Browsers can send one; no tokenizer takes it."""
    assert (
        Request(prompt="a\ud83d\ude00 b\ud83d c", stop=["\ude00"]).model_dump()["prompt"] == "a😀 b\ufffd c"
    )
    assert Request(prompt="مرحبا 👩‍👩‍👧 naïve").prompt == "مرحبا 👩‍👩‍👧 naïve"


def test_bonus_is_the_last_committed_token_unless_it_was_clipped():
    run = make_run(seed=3)
    cycle = run.cycles[1]
    assert cycle.bonus == cycle.committed[-1]
    cycle.committed = cycle.committed[:-1]
    assert cycle.bonus is None


def test_text_joins_pieces_and_leaves_special_tokens_out():
    run = Run("r", Request(prompt="x"), prompt_ids=[9], token_ids=[1, 2, 3, 0])
    run.pieces = {0: "<end>", 1: "caf", 2: "\udcc3", 3: "\udca9", 9: "?"}
    run.meta["special_ids"] = [0]
    assert run.text == "café"
    run.request.stop = ["f", "a"]
    assert run.text == "c"  # up to the first stop string that occurs
    run.request.stop = []
    run.token_ids = [1, 2]  # still streaming: half of the é
    assert run.text == "caf\ufffd"
