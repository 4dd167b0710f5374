"""What a user may type, and the sentence that answers what cannot be served."""

import pytest

from dcoco_viz.tabs import ask

GOOD = {"slots": 15, "temperature": 0, "max_tokens": 64, "seed": 0}


def test_one_request_a_method():
    found = ask.requests("Hello", ["dcoco", "dflash"], **GOOD)
    assert [(r.method, r.prompt, r.max_tokens) for r in found] == [
        ("dcoco", "Hello", 64),
        ("dflash", "Hello", 64),
    ]


@pytest.mark.parametrize("prompt", ["🎉 naïve 北京", "שלום עולם", "a\u200bb", "<img src=x onerror=alert(1)>"])
def test_any_text_is_a_prompt(prompt):
    assert ask.requests(prompt, ["none"], **GOOD)[0].prompt == prompt


@pytest.mark.parametrize("prompt", ["", "  \n", None])
def test_an_empty_prompt(prompt):
    with pytest.raises(ValueError, match="Type a prompt first"):
        ask.requests(prompt, ["none"], **GOOD)


def test_a_prompt_that_is_far_too_long():
    with pytest.raises(ValueError, match="50,000 characters and the longest allowed is 20,000"):
        ask.requests("x" * 50_000, ["none"], **GOOD)


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
        ask.requests("Hello", ["none"], **GOOD | {name: value})
    assert str(error.value) == sentence
