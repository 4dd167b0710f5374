"""What Explore says when no engine can be had."""

import pytest
from playwright.sync_api import expect

from dcoco_viz.presets import DCOCO_VARIABLE
from tests.ui.conftest import serving

LOADED_MS = 300_000  # vLLM is imported before the drafters are looked at


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """The app with a drafter that is not there."""
    monkeypatch.setenv(DCOCO_VARIABLE, str(tmp_path / "nowhere"))
    with serving(log=tmp_path / "log") as url:
        yield url


def test_an_engine_that_cannot_start_is_explained_and_traces_still_open(visit, broken, recorded):
    page = visit(broken)
    start = page.locator("#dv-panel-explore [data-kind]:has(h3)")
    expect(start).to_contain_text("The engine is loading")
    expect(start).to_contain_text("There is no engine", timeout=LOADED_MS)
    expect(start).to_contain_text("There is no drafter in")
    expect(page.locator("#dv-run")).to_be_disabled()
    page.locator("#dv-prompt textarea").fill("Hello")
    page.locator("#dv-prompt textarea").press("Enter")  # as the button: nothing happens
    page.locator("#dv-files input[type=file]").set_input_files(str(recorded[0]))
    page.wait_for_function("dcoco.lanes.a.cycles.length > 0")
    expect(start).to_be_hidden()
    assert not page.locator(".dv-banner[role=alert]").inner_text()
