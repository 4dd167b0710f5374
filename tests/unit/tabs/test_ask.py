"""What a user may type, and the sentence that answers what cannot be served."""

import pytest

from dcoco_viz.tabs import ask
from dcoco_viz.trace.schema import Request, Turn

GOOD = {
    "prompt": "Hello",
    "system": "",
    "history": [],
    "raw": False,
    "temperature": 0,
    "max_tokens": 64,
    "seed": 0,
}
PLAIN = [{"method": "none"}]


def test_one_request_a_way():
    found = ask.requests(GOOD, [{"method": "dcoco", "slots": 3}, {"method": "dflash"}])
    assert [(r.method, r.prompt, r.max_tokens, r.slots) for r in found] == [
        ("dcoco", "Hello", 64, 3),
        ("dflash", "Hello", 64, 15),
    ]


def test_the_deck_asks_for_fields_of_a_request():
    assert set(GOOD) == set(ask.FIELDS)


def test_what_is_left_out_is_the_default():
    assert ask.requests({"prompt": "Hello"}, PLAIN)[0] == Request(prompt="Hello", method="none")


TURNS = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


def test_a_chat_has_its_system_prompt_and_its_turns():
    asked = GOOD | {"system": "Answer in one word.", "history": TURNS}
    request = ask.requests(asked, PLAIN)[0]
    assert request.system == "Answer in one word."
    assert request.history == [Turn(**turn) for turn in TURNS]


def test_a_raw_completion_has_neither():
    asked = GOOD | {"system": "Answer in one word.", "history": TURNS, "raw": True}
    request = ask.requests(asked, PLAIN)[0]
    assert request.raw and not request.system and not request.history


def test_a_blank_system_prompt_is_none():
    assert ask.requests(GOOD | {"system": " \n"}, PLAIN)[0].system == ""


@pytest.mark.parametrize("walk", ask.WALKS)
def test_a_walk_that_the_menu_offers(walk):
    assert ask.requests(GOOD, [{"method": "dcoco", "walk": walk}])[0].walk == walk


@pytest.mark.parametrize("walk", ["speedy", "", None, "geometric:2", "greedy+cut:x", "beam"])
def test_a_walk_that_is_none(walk):
    with pytest.raises(ValueError, match=r"^Unknown walk .*\.$"):
        ask.requests(GOOD, [{"method": "dcoco", "walk": walk}])


@pytest.mark.parametrize("method", ["domino", "dspark"])
def test_a_head_that_goes_slot_by_slot_walks_greedily(method):
    for walk in ("greedy", "greedy+cut:0.3"):
        assert ask.requests(GOOD, [{"method": method, "walk": walk}])[0].walk == walk
    for walk in ("beam:4", "global-sum", "greedy+top:4", "greedy+k:8"):
        with pytest.raises(ValueError, match=r"^(Domino|DSpark) chooses slot by slot: its walk is greedy"):
            ask.requests(GOOD, [{"method": method, "walk": walk}])
        assert ask.requests(GOOD, [{"method": "selector", "walk": walk}])


def test_the_walks_of_serial_heads_are_explained():
    assert "Domino and DSpark choose slot by slot" in ask.GRAMMAR


@pytest.mark.parametrize("prompt", ["🎉 naïve 北京", "שלום עולם", "a\u200bb", "<img src=x onerror=alert(1)>"])
def test_any_text_is_a_prompt(prompt):
    assert ask.requests(GOOD | {"prompt": prompt}, PLAIN)[0].prompt == prompt


@pytest.mark.parametrize("prompt", ["", "  \n", None])
def test_an_empty_prompt(prompt):
    with pytest.raises(ValueError, match="Type a prompt first"):
        ask.requests(GOOD | {"prompt": prompt}, PLAIN)


def test_a_prompt_that_is_far_too_long():
    with pytest.raises(ValueError, match="50,000 characters and the longest allowed is 20,000"):
        ask.requests(GOOD | {"prompt": "x" * 50_000}, PLAIN)
    with pytest.raises(ValueError, match="This system prompt has 20,001 characters"):
        ask.requests(GOOD | {"system": "x" * 20_001}, PLAIN)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("max_tokens", 0, "Max tokens must be a number from 1 to 4,096."),
        ("max_tokens", None, "Max tokens must be a number from 1 to 4,096."),
        ("slots", 16, "Slots must be a number from 1 to 15."),
        ("temperature", -1, "Temperature must be a number from 0 to 2."),
        ("seed", -1, "The seed must be a number from 0 to 2,147,483,647."),
    ],
)
def test_a_setting_out_of_range(name, value, sentence):
    with pytest.raises(ValueError) as error:
        ask.requests(GOOD, [{"method": "none", "slots": 3, name: value}])
    assert str(error.value) == sentence
