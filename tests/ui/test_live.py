"""The whole way: a prompt typed into a real browser, decoded by the real engine, seen cycle by cycle."""

import pytest
from playwright.sync_api import expect

from dcoco_viz.trace import files
from tests.ui.conftest import serving
from tests.ui.reading import SETTLE, grid, wait_for_cycles

LONG = "Write the multiplication table of 7, from 7 x 1 to 7 x 15, one line each."  # far more than 64 tokens
LOADED_MS = 400_000  # until the engine has loaded, on a busy machine
DECODED_MS = 180_000


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    with serving(log=tmp_path_factory.mktemp("app") / "log") as url:
        yield url


@pytest.fixture
def page(visit, live):
    page = visit(live)
    expect(page.locator("#dv-run")).to_have_text("Run", timeout=LOADED_MS)
    expect(page.locator("#dv-run")).to_be_enabled()
    return page


def ask(page, prompt=LONG, **settings):
    page.get_by_label("Prompt").fill(prompt)
    for label, value in settings.items():
        page.get_by_label(label.replace("_", " ").capitalize(), exact=True).fill(str(value))
    page.locator("#dv-run").click()


def choose(page, label, option):
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).last.click()


def finished(page, lane="a"):
    page.wait_for_function(f"dcoco.lanes.{lane}.state === 'done'", timeout=DECODED_MS)
    page.evaluate(SETTLE)


def test_the_page_is_there_before_the_engine(visit, live):
    """First in this file: the engine is still loading."""
    page = visit(live)
    expect(page.locator(".dv-banner[role=status]")).to_have_attribute("data-kind", "busy")
    expect(page.locator("#dv-run")).to_be_disabled()


def test_two_methods_are_decoded_and_shown_beside_each_other(page, tmp_path):
    choose(page, "Compare with", "DFlash")
    ask(page, max_tokens=24)
    wait_for_cycles(page, 1)
    assert page.evaluate("dcoco.lanes.a.follow")
    finished(page, "b")
    for lane, method in (("a", "dcoco"), ("b", "dflash")):
        assert page.evaluate(f"dcoco.lanes.{lane}.run.method") == method
        assert page.evaluate(f"dcoco.lanes.{lane}.tokens.length") == 24
        assert len(grid(page, lane)["cells"]) == 15 * 16
    texts = [page.locator(f".dv-transcript[data-lane={lane}] .text").inner_text() for lane in "ab"]
    assert texts[0] == texts[1]  # T = 0: the text is the verifier's, whatever drafts
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this trace").click()
    runs = files.load(download.value.path())
    assert [run.request.method for run in runs] == ["dcoco", "dflash"]
    for lane, run in zip("ab", runs, strict=True):
        seen = page.locator(f".dv-scrubber[data-lane={lane}] .bars i")
        assert seen.evaluate_all("bars => bars.map(b => +b.dataset.accepted)") == [c.accepted for c in run.cycles]


def test_scrubbing_leaves_the_live_cycle_and_comes_back(page):
    ask(page, max_tokens=600)
    wait_for_cycles(page, 4)
    page.locator(".dv-transcript[data-lane=a] .text").focus()
    page.keyboard.press("Home")
    have = page.evaluate("dcoco.lanes.a.cycles.length")
    page.wait_for_function(f"dcoco.lanes.a.cycles.length > {have}")
    assert page.evaluate("dcoco.lanes.a.selected") == 0
    page.get_by_role("button", name="Follow the newest cycle").first.click()
    page.evaluate(SETTLE)
    assert page.evaluate(f"dcoco.lanes.a.selected >= {have}")
    page.locator("#dv-stop").click()
    finished(page)


def test_stop_ends_the_run(page):
    """That an abort takes one cycle is measured at the engine; here the click and the network are in between."""
    ask(page, max_tokens=1000)
    wait_for_cycles(page, 3)
    page.locator("#dv-stop").click()
    finished(page)
    assert page.evaluate("dcoco.lanes.a.run.finish") == "abort"
    assert page.evaluate("dcoco.lanes.a.tokens.length") < 1000
    expect(page.locator("#dv-run")).to_be_enabled()


def test_another_browser_sees_nothing_of_a_run(page, visit, live):
    other = visit(live)
    ask(page, max_tokens=8)
    finished(page)
    assert other.evaluate("dcoco.lanes.a.run") is None
    assert not other.locator(".dv-grid[data-lane=a] table").is_visible()


def test_closing_the_page_frees_the_engine(visit, live, page):
    leaving = visit(live)
    expect(leaving.locator("#dv-run")).to_be_enabled()
    ask(leaving, max_tokens=1900)
    wait_for_cycles(leaving, 2)
    leaving.close()
    ask(page, max_tokens=4)
    finished(page)


@pytest.mark.parametrize(
    ("prompt", "settings", "sentence"),
    [
        ("   ", {}, "Type a prompt first"),
        ("x" * 50_000, {}, "50,000 characters"),
        ("Hello", {"max_tokens": 0}, "Max tokens must be a number from 1 to 4,096"),
        ("Hello", {"seed": -1}, "The seed must be a number from 0"),
        ("word " * 3000, {"max_tokens": 64}, "shorten the prompt"),
    ],
)
def test_what_cannot_be_served_is_explained(page, prompt, settings, sentence):
    ask(page, prompt, **settings)
    expect(page.locator(".dv-banner[role=alert]")).to_contain_text(sentence)
    expect(page.locator("#dv-run")).to_be_enabled()


@pytest.mark.parametrize("prompt", ["🎉🚀 naïve?", "מה שלומך היום?", '<img src=x onerror="window.hacked=1">'])
def test_any_text_can_be_decoded(page, prompt):
    ask(page, prompt, max_tokens=8)
    finished(page)
    assert page.evaluate("dcoco.lanes.a.tokens.length") > 0
    assert page.evaluate("window.hacked") is None
    assert not page.locator(".dv-banner[role=alert]").inner_text()
