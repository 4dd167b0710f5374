"""The page against figures worked out by hand."""

import pytest

from dcoco_viz.findings.coverage import saveable
from dcoco_viz.findings.page import page
from dcoco_viz.findings.paper import paper
from dcoco_viz.findings.results import load
from tests.unit.findings.made import gap, results, way, write

LOW, HIGH = {"tau": 1.5, "interval": [1.4, 1.6]}, {"tau": 2.5, "interval": [2.4, 2.6]}


@pytest.fixture
def text(tmp_path):
    def of(*files: dict) -> str:
        return page(load(write(tmp_path, *files)))

    return of


def test_without_results_every_section_says_how_it_is_measured(text):
    nothing = text()
    assert nothing.count("Not measured yet.") == 7  # six files, and coverage by slot
    for name in ("frozen", "equal", "methods", "walks", "ablations", "seeds"):
        assert f"--save assets/results/{name}.json" in nothing
    assert "0 agree, 0 differ, 0 show no difference and 23 are not measured" in nothing
    assert "+27.4%" in nothing and "Nothing can be said yet" in nothing


def test_a_frozen_drafter_by_hand(text):
    figures = {"dflash": way(2.0), "dcoco": way(2.1, 0.5, 0.75, 1.5), "domino": way(2.0, 1.5, 1.25, 1.5)}
    differences = {"dcoco - dflash": gap(0.1, 0.05, 0.15), "domino - dflash": gap(0.0, -0.1, 0.1)}
    found = text(results("frozen", figures, differences))
    # gain 0.75 - 0.5, gap 1.5 - 0.5, a quarter of it closed
    assert (
        "| `dcoco` | 0.500 | 0.750 | 1.500 | 0.250 | 1.000 | 25.0% | 25.0% | 12.5% | 2.100 (2.000 to 2.200) |" in found
    )
    # no gap, so no share of it
    assert "| `domino` | 1.500 | 1.250 | 1.500 | -0.250 | 0.000 | – |" in found
    assert (
        "the interval above zero, with `dcoco`; no difference is shown (the interval holds zero) with `domino`."
        in found
    )
    assert (
        "| `dcoco` − `dflash` | +0.100 (+0.050 to +0.150) | +0.100 (+0.050 to +0.150) | +5.0% (+2.5% to +7.5%) "
        in found
    )
    assert "| +4.4% | agree |" in found
    assert "| no difference shown (nothing to agree with) |" in found


def test_a_direction_that_is_not_the_papers_is_said_plainly(text):
    figures = {"greedy": way(2.0), "global-sum": way(2.1), "geometric:0.75": way(2.0)}
    differences = {"global-sum - greedy": gap(0.1, 0.05, 0.15), "geometric:0.75 - greedy": gap(0.0, -0.01, 0.01)}
    found = text(results("walks", figures, differences))
    assert "- **Not as in the paper:** `global-sum` is above `greedy` here, +0.100 (+0.050 to +0.150); " in found
    assert "- **Not so here** (Walks on the same scores): `global-sum` below `greedy`." in found
    assert "No difference shown between `geometric:0.75` and `greedy`: 0.000 (-0.010 to +0.010) holds zero" in found
    assert "| `greedy` | 0.500 | 25.0% | 12.5% | 2.000 (1.900 to 2.100) | 2.000 (1.900 to 2.100) | 5.254 |" in found
    assert "0 agree, 1 differ, 1 show no difference and 21 are not measured" in found


def test_methods_by_source_and_the_summary(text):
    dcoco = way(2.2, sources={"gsm8k": HIGH, "chat": LOW})
    found = text(results("methods", {"dflash": way(2.0), "dcoco": dcoco}, {"dcoco - dflash": gap(0.2, 0.1, 0.3)}))
    assert "| way | gsm8k | chat | pooled | outside loops | the paper's |" in found
    assert "| `dcoco` | 2.500 (2.400 to 2.600) | 1.500 (1.400 to 1.600) | 2.200 (2.100 to 2.300) |" in found
    assert "the best method by pooled τ is `dcoco` with 2.200 (2.100 to 2.300)." in found
    assert "DCOCO − DFlash is +0.200 (+0.100 to +0.300), +10.0% of DFlash's τ; the interval lies above zero." in found
    assert "Goal of τ 2.3 for DCOCO: not reached, with 2.200." in found
    assert "reached by the value, but its interval begins below, with +10.0% (+5.0% to +15.0%)." in found
    assert "DCOCO's τ is lowest on chat (the paper: 2.5 to 2.9 there): agree." in found
    assert "`data.parquet`" in found and "/somewhere" not in found
    assert "Speed is not in it" in found


@pytest.mark.parametrize(
    ("chat", "other", "verdict"),
    [(LOW, HIGH, "agree"), (HIGH, LOW, "**not so here (differ)**"), (LOW, LOW, "no difference shown")],
)
def test_the_lowest_source(text, chat, other, verdict):
    found = text(results("methods", {"dcoco": way(2.0, sources={"chat": chat, "code": other})}))
    assert f"lowest on chat (the paper: 2.5 to 2.9 there): {verdict}." in found


def test_the_summary_where_dcoco_is_not_best_and_nothing_is_shown(text):
    found = text(results("equal", {"dflash": way(2.5), "dcoco": way(2.4)}, {"dcoco - dflash": gap(-0.1, -0.3, 0.1)}))
    assert "Equal budgets, as the shipped checkpoints are not measured, on 4 held-out prompts" in found
    assert "is `dflash` with 2.500 (2.400 to 2.600). That is not DCOCO, whose τ is 2.400 (2.300 to 2.500)." in found
    assert "the interval holds zero: no difference is shown." in found
    assert "Goal of τ 2.3 for DCOCO: reached, with 2.400. Goal of DCOCO 8% above DFlash: not reached" in found


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        ({}, ", with no paired difference of the two measured."),
        ({"domino - dcoco": gap(0.1, -0.1, 0.3)}, "-0.100 (-0.300 to +0.100), holds zero: no difference is shown."),
    ],
)
def test_the_summary_where_a_third_method_is_best(text, difference, words):
    found = text(results("methods", {"dflash": way(2.0), "dcoco": way(2.1), "domino": way(2.2)}, difference))
    assert "is `domino` with 2.200" in found and words in found


def test_coverage_that_goes_another_way_is_said_plainly(text):
    flat = way(2.0) | {"coverage_by_slot": {"1": [0.3, 0.3], "16": [0.6, 0.4]}}
    found = text(results("methods", {"dflash": flat}))
    assert "- top-1 is lower at the last slot than at the first: no difference shown." in found
    assert "- top-16 − top-1 is larger at the last slot than at the first: **not so here (differ)**." in found
    # (0.3 + 0.1) / (0.7 + 0.7) is below a half
    assert "wrong top-1 slots have the right token in the top-16: **not so here (differ)**." in found


def test_the_summary_without_a_paired_difference(text):
    found = text(results("equal", {"dflash": way(2.0), "dcoco": way(2.4)}))
    assert "The paired difference of DCOCO to DFlash is not measured." in found
    assert "Goal of DCOCO 8% above DFlash: not measured." in found


def test_coverage_by_hand(text):
    # (0.8 - 0.6 + 0.7 - 0.2) / (0.4 + 0.8)
    assert saveable([0.6, 0.2], [0.8, 0.7]) == pytest.approx(0.7 / 1.2)
    assert saveable([1.0, 1.0], [1.0, 1.0]) is None
    found = text(results("methods", {"dflash": way(2.0), "dcoco-nohead": way(2.0)}))
    assert "| slot | `dflash` top-1 | `dflash` top-16 |\n| --- | --- | --- |\n| 1 | 0.600 | 0.800 |\n" in found
    assert "\n| 2 | 0.200 | 0.700 |\n" in found
    assert "| wrong top-1 with the right token in the top-16 | 59% | 58.3% |" in found
    assert "| top-1, mean over slots | 0.400 (Qwen3-8B) | 0.400 |" in found
    assert "| top-1, slot 15 | 0.154 (Qwen3-8B) | – |" in found  # two slots only
    assert "| top-16 − top-1, last slot | 0.38 to 0.45 (four verifiers) | 0.500 |" in found
    assert "- more than half of the wrong top-1 slots have the right token in the top-16: agree." in found


def test_seeds_by_hand(text):
    figures = {"dflash@42": way(2.0), "dcoco@42": way(2.1), "dflash@43": way(2.2), "dcoco@43": way(2.5)}
    differences = {"dcoco@42 - dflash@42": gap(0.1, -0.1, 0.3), "dcoco@43 - dflash@43": gap(0.3, 0.1, 0.5)}
    found = text(results("seeds", figures, differences))
    assert "| `dflash` | 2.000 | 2.200 | 2 | 2.100 | 0.141 |" in found  # sqrt(2 * 0.1²)
    assert "| `dcoco` − `dflash` | +0.100 | +0.300 | 2 | +0.200 | 0.141 |" in found
    assert "The interval of DCOCO − DFlash lies above zero at 1 of 2 seeds." in found


def test_files_about_nothing_here_are_named(text):
    assert "Not read, since no section here is about them: `bench.json`." in text({"name": "bench"})


def test_the_order_of_a_file_does_not_matter(tmp_path, text):
    ways, gaps = {"dflash": way(2.0), "dcoco": way(2.1), "zeta": way(1.9)}, {"dcoco - dflash": gap(0.1, 0.0, 0.2)}
    first = text(results("equal", ways, gaps | {"zeta - dcoco": gap(-0.2, -0.3, -0.1)}))
    turned = dict(reversed(ways.items()))
    assert text(results("equal", turned, {"zeta - dcoco": gap(-0.2, -0.3, -0.1)} | gaps)) == first


def test_the_papers_percentages_are_those_of_its_values_of_tau():
    tau = paper().tau["methods"]
    for claim in paper().claims("methods"):
        assert claim.percent == round(100 * (tau[claim.a] / tau[claim.b] - 1), 1)
    walks = paper().tau["walks"]
    assert round(100 * (walks["geometric:0.75"] / walks["greedy"] - 1), 1) == 0.1
    assert round(100 * (1.274 / 1.019 - 1), 1) == 25.0
