"""A chart, whatever it shows: lazily loaded, in the page's colours, with its numbers, to be saved and zoomed."""

import pytest
from playwright.sync_api import expect

from tests.ui.charts import drawn, numbers
from tests.ui.reading import wait_for_cycles

CHART = "dv-chart-coverage"
VARIABLE = "name => getComputedStyle(document.body).getPropertyValue(name).trim()"
RANGE = f"document.querySelector('#{CHART} .plot')._fullLayout.xaxis.range"
COUNT = f"+document.querySelector('#{CHART} .plot').dataset.drawn"


def toggle(page):
    """The other theme, once it is drawn."""
    count = page.evaluate(COUNT)
    page.evaluate("document.body.classList.toggle('dark')")
    page.wait_for_function(f"count => {COUNT} > count", arg=count)


@pytest.fixture
def page(visit, replay, recorded):
    page = visit(replay)
    wait_for_cycles(page, len(recorded[1][0].cycles))
    assert page.evaluate("typeof window.Plotly") == "undefined"  # nobody has looked at a chart yet
    page.get_by_role("tab", name="Coverage").click()
    drawn(page, CHART, 2)
    return page


def test_colours_are_the_pages_and_follow_the_theme(page, recorded):
    seen = {}
    for theme in ("light", "dark"):
        if page.evaluate("document.body.classList.contains('dark')") != (theme == "dark"):
            toggle(page)
        panels = drawn(page, CHART, 2)
        for panel, run in zip(panels, recorded[1], strict=True):
            colour = page.evaluate(VARIABLE, f"--method-{run.request.method}")
            curves = [trace for trace in panel["data"] if "line" in trace]
            assert len(curves) > 3 and colour and {trace["line"]["color"] for trace in curves} == {colour}
            assert panel["paper"] == page.evaluate(VARIABLE, "--dv-panel")
            assert panel["font"] == page.evaluate(VARIABLE, "--dv-sans")
        seen[theme] = colour
    assert seen["light"] != seen["dark"]


def test_zoom_stays_when_the_picture_is_drawn_anew_and_is_reset_by_a_button(page):
    before = drawn(page, CHART, 2)[0]["xaxis"]
    box = page.locator(f"#{CHART} .nsewdrag").first.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.2 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], middle, steps=4)
    page.mouse.up()
    page.wait_for_function(f"x => {RANGE}[0] !== x[0]", arg=before)
    zoomed = drawn(page, CHART, 2)[0]["xaxis"]
    toggle(page)
    assert drawn(page, CHART, 2)[0]["xaxis"] == zoomed
    page.locator(f"#{CHART}").get_by_role("button", name="Reset zoom").first.press("Enter")
    page.wait_for_function(f"x => {RANGE}.join() === x.join()", arg=before)


@pytest.mark.parametrize("form, begins", [("PNG", b"\x89PNG"), ("SVG", b"<svg")])
def test_a_picture_can_be_saved(page, form, begins):
    with page.expect_download() as download:
        page.locator(f"#{CHART}").get_by_role("button", name=f"Save as {form}").first.click()
    assert download.value.suggested_filename.endswith(form.lower())
    content = download.value.path().read_bytes()
    assert content.startswith(begins) and len(content) > 5000
    if form == "SVG":
        assert b"var(--" not in content


def test_it_has_words_for_those_who_do_not_see_it(page):
    for panel in page.locator(f"#{CHART} .plot").all():
        expect(panel).to_have_role("img")
        assert "coverage" in panel.get_attribute("aria-label").lower()
    tables = numbers(page, CHART)
    assert len(tables) == 2 and all(table["rows"] for table in tables)


def test_it_follows_the_width_of_the_page(page):
    page.set_viewport_size({"width": 420, "height": 900})
    fits = "[...document.querySelectorAll(`#${id} .plot`)].every(plot => plot._fullLayout.width === plot.clientWidth)"
    page.wait_for_function(f"id => {fits}", arg=CHART)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_without_the_library_the_numbers_stand(visit, replay, recorded):
    page = visit(replay)
    wait_for_cycles(page, len(recorded[1][0].cycles))
    page.route("**/plotly-*.js", lambda route: route.abort())
    page.get_by_role("tab", name="Coverage").click()
    page.wait_for_selector(f"#{CHART} .plot.failed", state="attached")
    page.wait_for_selector(f"#{CHART} table")
