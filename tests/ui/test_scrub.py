"""Moving through the cycles, and what moves with it."""

import pytest
from playwright.sync_api import expect

from tests.ui.reading import SETTLE, go, wait_for_cycles


def at(page) -> int:
    page.evaluate(SETTLE)
    return page.evaluate("dcoco.lanes.a.selected")


def test_a_recorded_run_opens_at_its_first_cycle(page):
    assert at(page) == 0


def test_arrow_keys_home_and_end(page, recorded):
    last = len(recorded[1][0].cycles) - 1
    page.locator(".dv-transcript[data-lane=a] .text").focus()
    moves = [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last), ("ArrowRight", last)]
    for key, wanted in [*moves, ("Home", 0), ("ArrowLeft", 0)]:
        page.keyboard.press(key)
        assert at(page) == wanted
        where = page.locator(".dv-scrubber[data-lane=a] .where")
        expect(where).to_have_text(f"cycle {wanted + 1} / {last + 1}")
        assert page.locator(".dv-grid[data-lane=a] caption").inner_text().startswith(f"Cycle {wanted + 1}:")


def test_a_click_on_a_token_goes_to_its_cycle(page, recorded):
    cycle = recorded[1][0].cycles[4]
    page.locator(f".dv-transcript[data-lane=a] .tok[data-cycle='{cycle.index}']").first.click()
    assert at(page) == cycle.index
    lit = page.locator(".dv-transcript[data-lane=a] .tok.lit")
    assert lit.count() == len(cycle.committed)


def test_play_runs_and_pauses(page):
    page.get_by_role("button", name="Play (space)").first.click()
    page.wait_for_function("dcoco.lanes.a.selected >= 3")
    page.get_by_role("button", name="Play (space)").first.click()
    stood = at(page)
    page.wait_for_timeout(700)
    assert at(page) == stood


def test_the_grid_is_walked_with_the_arrow_keys(page):
    go(page, 1)
    cell = page.locator(".dv-grid[data-lane=a] td[data-slot='0'][data-rank='0']")
    cell.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    focused = page.evaluate("[document.activeElement.dataset.slot, document.activeElement.dataset.rank].join()")
    assert focused == "1,1"
    assert "slot 2, rank 2" in page.locator(".dv-grid[data-lane=a] .detail").inner_text()
    assert at(page) == 1


def test_brackets_change_the_slot_pair(page):
    page.locator(".dv-transcript[data-lane=a] .text").focus()
    for key, wanted in [("]", 1), ("]", 2), ("[", 1)]:
        page.keyboard.press(key)
        assert page.evaluate("dcoco.lanes.a.pair") == wanted


def test_one_lane_moves_without_the_other(page):
    before = page.evaluate("dcoco.lanes.b.selected")
    go(page, 3)
    assert page.evaluate("dcoco.lanes.b.selected") == before


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_does_not_scroll_sideways(visit, replay, recorded, width):
    page = visit(replay, viewport={"width": width, "height": 844})
    wait_for_cycles(page, len(recorded[1][0].cycles))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_reduced_motion_stops_the_spinner(visit, replay):
    page = visit(replay, reduced_motion="reduce")
    names = page.evaluate("[...document.querySelectorAll('*')].map(e => getComputedStyle(e).animationName)")
    assert set(names) <= {"none"}
