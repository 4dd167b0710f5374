"""Which way a difference points, and whether that is the paper's way."""

import pytest

from dcoco_viz.findings.compare import compare, side
from dcoco_viz.findings.results import Results
from tests.unit.findings.made import gap, results, way


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((0.01, 0.2), "above"),
        ((-0.2, -0.01), "below"),
        ((-0.1, 0.2), "no difference shown"),
        ((0.0, 0.2), "no difference shown"),
        ((-0.2, 0.0), "no difference shown"),
    ],
)
def test_a_difference_has_a_side_only_where_its_interval_leaves_zero_out(interval, expected):
    assert side(interval) == expected


def judged(section: str, a: str, b: str, difference: dict, taus=(2.2, 2.0)):
    file = Results.model_validate(results(section, {a: way(taus[0]), b: way(taus[1])}, difference))
    return next(c for c in compare(section, file, [(a, b)]) if (c.a, c.b) == (a, b))


@pytest.mark.parametrize(
    ("tau", "low", "high", "verdict"),
    [(0.2, 0.1, 0.3, "agree"), (-0.2, -0.3, -0.1, "differ"), (0.2, -0.1, 0.5, "no difference shown")],
)
def test_the_verdict_where_the_paper_has_a_above_b(tau, low, high, verdict):
    found = judged("equal", "dcoco", "dflash", {"dcoco - dflash": gap(tau, low, high)}, (2 + tau, 2.0))
    assert found.claim.percent == 27.4 and found.verdict == verdict


def test_the_verdict_where_the_paper_has_a_below_b():
    found = judged("ablations", "dcoco+no-pair", "dcoco", {"dcoco+no-pair - dcoco": gap(-0.2, -0.3, -0.1)}, (1.8, 2))
    assert found.claim.direction == "below" and found.verdict == "agree"


def test_without_a_value_of_the_papers_there_is_a_side_but_no_agreement():
    found = judged("ablations", "dcoco+k:4", "dcoco", {"dcoco+k:4 - dcoco": gap(-0.2, -0.3, -0.1)}, (1.8, 2))
    assert found.claim is None and found.verdict == "below"


def test_a_difference_written_the_other_way_round_is_turned():
    found = judged("equal", "dcoco", "dflash", {"dflash - dcoco": gap(-0.2, -0.3, -0.1)})
    assert (found.gap.tau, found.gap.interval, found.verdict) == (0.2, (0.1, 0.3), "agree")


def test_percent_is_of_the_second_ones_tau():
    found = judged("equal", "dcoco", "dflash", {"dcoco - dflash": gap(0.2, 0.1, 0.3)})
    assert found.percent.tau == pytest.approx(10) and found.percent.interval == pytest.approx((5, 15))


def test_two_values_of_tau_without_a_paired_difference_are_not_compared():
    found = judged("equal", "dcoco", "dflash", {})
    assert found.gap is None and found.percent is None and found.verdict == "not measured"


def test_a_difference_that_no_one_asked_for_is_shown_too():
    figures = {"dcoco": way(2.2), "dcoco-nohead": way(2.1)}
    file = Results.model_validate(results("equal", figures, {"dcoco - dcoco-nohead": gap(0.1, 0.05, 0.15)}))
    assert [(c.a, c.b) for c in compare("equal", file, [])][-1] == ("dcoco", "dcoco-nohead")
