"""Names of what a run trains."""

import pytest

from dcoco_viz.train.branch import parse


def test_a_name_says_method_head_and_changes():
    plain = parse("dcoco")
    assert plain == ("dcoco", "dcoco", "dcoco", {}, False, 4.0)
    assert parse("dflash-long").kind == ""
    assert parse("dcoco-anchored").settings == {"anchored": True}
    changed = parse("dcoco+no-pair+no-candidate+frozen+k:8+rho:2.5")
    assert changed.settings == {"pair": False, "candidate": False, "top_k": 8}
    assert changed.frozen and changed.rho == 2.5
    assert parse("dspark+rnn").settings == {"variant": "rnn"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("medusa", "begins with one of"),
        ("none", "begins with one of"),
        ("dcoco-nohead", "begins with one of"),
        ("dflash", "the shared stage itself"),
        ("dflash-long+frozen", r"no change \+frozen"),
        ("domino+no-pair", r"no change \+no-pair"),
        ("dcoco+k:one", r"no change \+k:one"),
        ("dcoco+k:1000", r"no change \+k:1000"),
        ("dcoco+rho:-1", r"no change \+rho:-1"),
        ("dcoco+", r"no change \+"),
    ],
)
def test_what_cannot_be_trained_is_said(name, words):
    with pytest.raises(ValueError, match=words):
        parse(name)
