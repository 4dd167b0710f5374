"""Which acceptance is far from a card's, on runs made by hand."""

import json

import numpy as np
import pytest

from dcoco_viz.metrics.norms import CYCLES, Norm, far, norm
from dcoco_viz.presets import ROOT
from dcoco_viz.trace.schema import Cycle, Request, Run

EXPECTED = Norm(1.6, 1.5, 1.7, "", 80)  # low below 1.21, high above 2.5


def run_of(lengths, *, method="dcoco", record="full"):
    """A run whose cycles commit so many tokens each."""
    run = Run("r", Request(prompt="p", method=method, record=record), [1, 2], [3])
    for index, length in enumerate(lengths):
        fields = dict.fromkeys(("draft_ms", "head_ms", "verify_ms"), 1.0)
        committed = np.zeros(length, np.int32)
        drafted = np.zeros(15, np.int32)
        run.cycles.append(
            Cycle("r", index, 2, 3, method, "greedy", 15, length - 1, drafted, committed, **fields)
        )
    return run


@pytest.mark.parametrize(
    ("lengths", "verdict"),
    [
        ([1] * 80 + [2] * 20, "low"),  # tau 1.20
        ([1] * 78 + [2] * 22, None),  # 1.22
        ([1] * 40 + [2] * 60, None),  # the norm itself
        ([2] * 50 + [3] * 50, None),  # 2.50
        ([2] * 49 + [3] * 51, "high"),  # 2.51
    ],
)
def test_far_from_the_norm(lengths, verdict):
    assert far(run_of(lengths), EXPECTED) == verdict


def test_a_short_run_tells_nothing():
    assert far(run_of([1] * (CYCLES - 1)), EXPECTED) is None
    assert far(run_of([1] * CYCLES), EXPECTED) == "low"


def test_runs_that_submit_no_drafts_are_not_judged():
    assert far(run_of([1] * 50, method="none"), EXPECTED) is None
    assert far(run_of([1] * 50, record="dense"), EXPECTED) is None


@pytest.fixture
def card():
    return json.loads((ROOT / "assets/checkpoints/smollm2-135m/dcoco/card.json").read_text(encoding="utf-8"))


def test_a_cards_norm_by_source(card):
    code = card["held_out_tau"]["by_source"]["code"]
    assert norm(card, "code") == Norm(code["tau"], *code["interval"], "code", code["prompts"])


@pytest.mark.parametrize("source", ["", "poems"])
def test_all_sources_pooled(card, source):
    pooled = card["held_out_tau"]["pooled"]
    assert norm(card, source) == Norm(pooled["tau"], *pooled["interval"], "", card["held_out"]["prompts"])


def test_with_the_corrector_off_another_norm_holds(card):
    off = card["held_out_tau_without_head"]["by_source"]["chat"]["tau"]
    assert norm(card, "chat", head=False).tau == off != norm(card, "chat").tau


def test_a_card_of_a_drafter_alone_has_one_norm(card):
    del card["held_out_tau_without_head"]
    assert norm(card, "chat", head=False) == norm(card, "chat")


def test_a_card_that_measured_nothing():
    with pytest.raises(KeyError):
        norm({})
