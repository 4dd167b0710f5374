"""What the figures hold is what the metrics say, to the last digit shown."""

import json

import numpy as np
import pytest

from dcoco_viz import palette
from dcoco_viz.figures.acceptance import conditional, unconditional
from dcoco_viz.figures.coverage import HOLLOW, coverage_by_slot, saveable_by_slot
from dcoco_viz.figures.look import Look, looks
from dcoco_viz.figures.style import FEW, GAP, shown
from dcoco_viz.figures.survival import PARTS, budget_bars, survival_by_slot, width
from dcoco_viz.metrics.acceptance import acceptance
from dcoco_viz.metrics.blocks import blocks
from dcoco_viz.metrics.coverage import KS, coverage, saveable
from dcoco_viz.metrics.paper import paper
from dcoco_viz.metrics.survival import Budget, budget, survival
from tests.unit.factory import make_run

LOOK = Look("var(--method-dcoco)", "solid", "diamond")


@pytest.fixture(scope="module")
def run():
    return make_run(slots=15, pool=16, cycles=20, seed=4)


def traces(figure):
    """By name, those with a curve before single marks."""
    json.dumps(figure, allow_nan=False)
    assert "template" not in figure["layout"]
    return sorted(figure["data"], key=lambda trace: -len(trace["x"]))


def same(trace, values, counts):
    assert trace["x"] == list(range(1, len(values) + 1))
    assert trace["y"] == [None if np.isnan(value) else value for value in values]
    assert trace["customdata"] == [[shown(value), count] for value, count in zip(values, counts, strict=True)]
    assert [symbol.endswith("-open") for symbol in trace["marker"]["symbol"]] == [count < FEW for count in counts]


def test_coverage(run):
    found = coverage([run])
    assert min(found.counts) < FEW <= max(found.counts)
    drawn = traces(coverage_by_slot(found, LOOK.colour))
    assert [trace["name"] for trace in drawn[:5]] == [f"top-{k}" for k in reversed(KS)]
    for trace, k in zip(drawn[:5], reversed(KS), strict=True):
        same(trace, found.share[k], found.counts.tolist())
        assert trace["line"]["color"] == LOOK.colour
    for trace, k in zip(drawn[5:], reversed(KS), strict=True):
        assert (trace["name"], trace["x"], trace["y"]) == (f"top-{k}", [15 + GAP], [found.mean(k)])
        assert trace["customdata"] == [[shown(found.mean(k))]]


def test_a_pool_of_three_says_nothing_of_four():
    drawn = traces(coverage_by_slot(coverage([make_run(slots=4, pool=3)]), LOOK.colour))
    by_name = {trace["name"]: trace["y"] for trace in drawn if len(trace["x"]) == 4}
    assert by_name["top-4"] == by_name["top-16"] == [None] * 4
    assert {trace["name"] for trace in drawn if len(trace["x"]) == 1} == {"top-1", "top-2"}


def test_the_papers_marks_are_hollow_labelled_and_its_own(run):
    for figure, marks in (
        (coverage_by_slot(coverage([run]), LOOK.colour, paper()), paper().coverage),
        (saveable_by_slot([("x", LOOK, saveable(blocks([run])))], paper()), paper().saveable),
    ):
        stars = [trace for trace in traces(figure) if trace["name"].startswith("paper, Qwen3-8B")]
        seen = {(t["name"], x, y, c[0]) for t in stars for x, y, c in zip(t["x"], t["y"], t["customdata"], strict=True)}
        at = {"mean": 15 + GAP, "all": 15 + GAP}
        assert seen == {
            (f"paper, Qwen3-8B: top-{mark.k}", at.get(mark.slot, mark.slot), mark.share, mark.shown) for mark in marks
        }
        assert {trace["marker"]["symbol"] for trace in stars} <= set(HOLLOW.values())
        assert all(symbol.endswith("-open") for symbol in HOLLOW.values())


def test_marks_of_15_slots_have_room_beside_a_shorter_block():
    figure = coverage_by_slot(coverage([make_run(slots=4, pool=3)]), LOOK.colour, paper())
    assert figure["layout"]["xaxis"]["range"][1] > 15 + GAP
    assert figure["layout"]["xaxis"]["ticktext"][-1] == "mean"


def test_survival(run):
    found = survival(blocks([run]))
    drawn = {trace["name"]: trace for trace in traces(survival_by_slot(found, LOOK))}
    for name, path in (("top-1", "top1"), ("selected", "selected"), ("oracle", "oracle")):
        same(drawn[name], found.share[path], [20] * 15)
    assert drawn["selected"]["line"]["color"] == LOOK.colour
    assert len({trace["line"]["dash"] for trace in drawn.values()}) == 3


@pytest.mark.parametrize("top1, selected", [(1.0, 2.5), (2.5, 1.0), (2.0, 2.0)])
def test_the_bars_make_up_the_block_whether_the_corrector_gains_or_loses(top1, selected):
    one = Budget(15.0, top1, selected, 6.0)
    drawn = budget_bars([("DCOCO", LOOK, one, 40)])["data"]
    assert [trace["name"] for trace in drawn] == list(PARTS)
    assert sum(trace["x"][0] for trace in drawn) == pytest.approx(15) and all(t["x"][0] >= 0 for t in drawn)
    said = [trace["customdata"][0] for trace in drawn]
    assert said == [[shown(getattr(one, part)), 40] for part in PARTS.values()]
    assert drawn[1]["marker"]["pattern"]["shape"] == ["x" if selected < top1 else "/"]


def test_the_bars_are_the_budget(run):
    one = budget(blocks([run]))
    assert [trace["x"][0] for trace in budget_bars([("a", LOOK, one, 20)])["data"]] == [
        width(one, part) for part in PARTS.values()
    ]
    if one.gained >= 0:
        assert width(one, "gained") == one.gained and width(one, "ranking") == one.ranking


def test_acceptance(run):
    found, other = acceptance([run]), acceptance([make_run(slots=3, pool=3, cycles=4)])
    series = [("a", LOOK, found), ("b", LOOK, other)]
    first, second = traces(conditional(series))
    same(first, found.conditional, found.reached.tolist())
    same(second, other.conditional, other.reached.tolist())
    same(traces(unconditional(series))[0], found.unconditional, found.submitted.tolist())


def test_saveable(run):
    found = saveable(blocks([run]))
    curve, total = traces(saveable_by_slot([("a", LOOK, found)]))
    same(curve, found.share, found.wrong.tolist())
    assert (total["x"], total["y"], total["customdata"]) == ([15 + GAP], [found.in_all], [[shown(found.in_all)]])


def test_every_series_looks_different_and_the_first_of_a_method_as_everywhere():
    methods = ["dcoco", "dcoco", "dflash", "dcoco", "none", "dcoco-nohead", "dcoco"]
    found = looks(methods)
    assert len({look.marker for look in found}) == len(found)
    for method, look in zip(methods, found, strict=True):
        assert look.colour == f"var(--method-{method})"
    for first in (0, 2, 4, 5):
        its = palette.METHODS[methods[first]]
        assert (found[first].dash, found[first].marker) == (its.dash, its.marker.removesuffix("-open"))
    assert looks(["domino-of-tomorrow"])[0].colour == "var(--method-none)"
