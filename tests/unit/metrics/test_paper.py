"""What the paper reports: the figures themselves, as its tables have them."""

from dcoco_viz.metrics.paper import paper


def test_the_papers_end_points():
    marks = {(mark.k, mark.slot): mark.share for mark in paper().coverage}
    assert marks == {(1, 1): 0.81, (1, 15): 0.154, (1, "mean"): 0.400, (16, 15): 0.608, (16, "mean"): 0.755}
    assert [(mark.slot, mark.share) for mark in paper().saveable] == [("all", 0.59)]
    assert paper().model == "Qwen3-8B" and "Contextual Correction" in paper().source


def test_what_is_shown_is_the_number():
    for mark in (*paper().coverage, *paper().saveable):
        assert float(mark.shown.removeprefix("about ")) == mark.share
