"""Addresses, and the way back."""

import re

from playwright.sync_api import expect

from tests.ui.reading import grid, wait_for_cycles


def test_back_and_forward_lead_through_the_views(visit, replay, recorded):
    page = visit(replay)
    wait_for_cycles(page, len(recorded[1][0].cycles))
    page.wait_for_url("**/?run=*")
    page.evaluate("dcoco.lanes.a.scrub(6)")
    expect(page).to_have_url(re.compile("cycle=7"))
    page.locator("body").press("c")
    page.wait_for_url("**view=compare*")
    expect(page.locator(".dv-table tbody tr")).to_have_count(2)
    page.get_by_role("tab", name="Coverage").click()
    page.wait_for_url("**view=coverage*")
    page.go_back()
    page.wait_for_function("document.body.dataset.view === 'compare'")
    page.go_back()
    page.wait_for_function("document.body.dataset.view === 'explore' && dcoco.lanes.a.selected === 6")
    expect(page).to_have_url(re.compile("cycle=7.*view=explore"))
    page.go_forward()
    page.wait_for_function("document.body.dataset.view === 'compare'")
    expect(page).to_have_url(re.compile("view=compare"))


def test_a_cycle_that_is_not_there_is_said(visit, replay, recorded):
    page = visit(replay)
    page.wait_for_url("**/?run=*")
    run, last = recorded[1][0], len(recorded[1][0].cycles)
    page = visit(re.sub("cycle=[0-9]+", "cycle=999", page.url))
    words = f"This run has {last} cycles: there is no cycle 999"
    expect(page.locator(".dv-banner", has_text=words).first).to_be_visible()
    page.wait_for_function(f"dcoco.lanes.a.selected === {last - 1}")
    assert f"position {run.cycles[-1].anchor_position}" in grid(page)["caption"]
