"""Which runs make a series, and what the Coverage view says of those that make none."""

import tomllib

import pytest

from dcoco_viz.presets import ROOT
from dcoco_viz.tabs.coverage import NEWEST, pooled
from dcoco_viz.tabs.evidence import THIN, charts
from dcoco_viz.tabs.groups import OWN, by_method, by_source, each, source
from tests.unit.factory import make_run


def asked(seed=0, **fields):
    """A run whose request says this."""
    run = make_run(seed=seed, method=fields.get("method", "dcoco"), record=fields.get("record", "full"))
    run.request = run.request.model_copy(update={"seed": 0} | fields)
    return run


def test_runs_are_named_by_what_sets_them_apart():
    runs = [asked(), asked(method="dflash"), asked(slots=3), asked(slots=3, temperature=0.7)]
    names = ["DCOCO, 15 slots", "DFlash", "DCOCO, 3 slots, T = 0", "DCOCO, 3 slots, T = 0.7"]
    assert [one.name for one in each(runs)] == names
    assert [one.name for one in each([asked(), asked()])] == ["DCOCO, no. 1", "DCOCO, no. 2"]
    named = [asked(), asked()]
    named[0].name = "<b>mine"
    assert [one.name for one in each(named)] == ["DCOCO, <b>mine", "DCOCO"]


def test_methods_are_pooled_in_the_order_of_methods():
    runs = [asked(method="dcoco"), asked(method="none"), asked(method="dflash"), asked(method="dcoco")]
    assert [(one.method, len(one.runs)) for one in by_method(runs)] == [("none", 1), ("dflash", 1), ("dcoco", 2)]


def test_the_source_is_the_group_of_the_example():
    prompts = tomllib.loads((ROOT / "assets" / "prompts.toml").read_text(encoding="utf-8"))["prompts"]
    for prompt in prompts:
        assert source(asked(prompt=prompt["text"] + "\n")) == prompt["group"]
    assert source(asked(prompt="mine")) == OWN
    runs = [asked(prompt="mine"), asked(prompt=prompts[0]["text"]), asked(prompt="yours"), asked(method="dflash")]
    assert [(one.name, len(one.runs)) for one in by_source(runs, "dcoco")] == [(OWN, 2), (prompts[0]["group"], 1)]


def test_dense_runs_and_those_beyond_the_newest_are_not_pooled():
    runs = [asked() for _ in range(NEWEST + 1)] + [asked(record="dense")]
    kept, said = pooled(runs)
    assert len(kept) == NEWEST and kept == runs[:NEWEST]
    assert "newest 200 of 201" in said and "Dense" in said
    assert pooled(runs[:2]) == (runs[:2], "")


@pytest.mark.parametrize(
    "fields, pool, acceptance",
    [
        ({"method": "none"}, "plain decoding drafts nothing", "plain decoding drafts nothing"),
        ({"record": "light"}, "recorded without candidates (level light)", ""),
        ({"record": "off"}, "no cycle was recorded", "no cycle was recorded"),
    ],
)
def test_every_chart_says_why_a_run_is_not_in_it(fields, pool, acceptance):
    found = charts(each([asked(**fields)]), marks=False)
    for name in ("coverage", "survival", "budget", "saveable"):
        assert found[name]["panels"] == [] and pool in found[name]["note"]
    assert acceptance in found["acceptance"]["note"]
    assert bool(found["acceptance"]["panels"]) == (not acceptance)


def test_a_dense_run_has_coverage_and_no_acceptance():
    found = charts(each([asked(record="dense")]), marks=False)
    assert len(found["coverage"]["panels"]) == 1
    assert found["acceptance"]["panels"] == [] and "submits nothing" in found["acceptance"]["note"]


def test_sampled_runs_are_told_from_greedy_ones():
    for temperature, told in ((0.0, False), (0.8, True)):
        found = charts(each([asked(temperature=temperature)]), marks=False)
        for name in ("survival", "budget", "saveable"):
            assert ("only at T = 0" in found[name]["note"]) == told


def test_thin_data_and_the_papers_marks_are_announced():
    for marks in (False, True):
        found = charts(each([asked()]), marks=marks)
        assert THIN in found["coverage"]["note"]
        for name in ("coverage", "saveable"):
            assert ("Hollow stars: Qwen3-8B" in found[name]["note"]) == marks
