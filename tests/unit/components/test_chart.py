"""The value of a chart, and the script that draws it."""

import gzip

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from dcoco_viz.components import plotlyjs
from dcoco_viz.components.chart import chart
from dcoco_viz.metrics.names import DEFINITIONS

FIGURE = {"data": [], "layout": {}}


def test_one_figure_is_one_panel_without_a_label():
    value = chart("Coverage", "coverage", FIGURE, note="x")
    assert value["panels"] == [{"label": "", "figure": FIGURE}]
    assert value["definition"] == DEFINITIONS["coverage"]._asdict()


def test_panels_keep_their_order_and_nothing_is_no_panel():
    assert [panel["label"] for panel in chart("x", "tau", panels={"b": FIGURE, "a": FIGURE})["panels"]] == ["b", "a"]
    assert chart("x", "tau", note="why")["panels"] == []


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_plotly_comes_from_here_once_for_good(encoding):
    app = FastAPI()
    plotlyjs.serve(app)
    answer = TestClient(app).get(plotlyjs.ADDRESS, headers={"Accept-Encoding": encoding})
    assert answer.status_code == 200 and "immutable" in answer.headers["cache-control"]
    assert answer.headers.get("content-encoding") == ("gzip" if encoding == "gzip" else None)
    assert b"plotly.js v" in answer.content[:200]
    assert gzip.decompress(plotlyjs._packed()) == plotlyjs._plain()
