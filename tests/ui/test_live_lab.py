"""Path lab on the real engine: a dense trace and cycle costs, recorded through the page."""

from playwright.sync_api import expect

from dcoco_viz.metrics.prefix import tau
from dcoco_viz.trace import files
from tests.ui import charts
from tests.ui import lab as seen
from tests.ui.asking import DECODED_MS, ask, finished
from tests.ui.conftest import LOADED_MS

TOKENS = 24


def test_a_dense_trace_gives_the_runs_tau_and_costs_give_speed(visit, live):
    page = visit(live)
    expect(page.locator("#dv-run")).to_have_text("Run", timeout=LOADED_MS)
    ask(page, max_tokens=TOKENS)
    finished(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this trace").click()
    [run] = files.load(download.value.path())
    page.get_by_role("tab", name="Path lab").click()
    seen.arrived(page)
    own = page.locator("#dv-lab-table tr.own")
    expect(own.locator(".dense_tau")).to_have_text("–")
    expect(page.locator("#dv-lab-table .notes").first).to_contain_text("Recorded anchors only")

    page.get_by_role("button", name="Record a dense trace of this run").click()
    expect(own.locator(".dense_tau")).to_have_text(f"{tau(run):.3f}", timeout=DECODED_MS)
    expect(page.locator("#dv-lab-table .notes").first).to_contain_text(f"Dense trace of {TOKENS - 1} positions")
    page.get_by_role("button", name="Record a dense trace of this run").click()
    expect(page.locator(".dv-banner[role=alert]")).to_contain_text("has a dense trace already")

    page.get_by_role("button", name="Measure cycle cost").click()
    expect(page.get_by_role("button", name="Measure cycle cost")).to_be_disabled()
    expect(page.get_by_role("button", name="Measure cycle cost")).to_be_enabled(timeout=DECODED_MS)
    expect(page.locator("#dv-lab-chart .note")).not_to_contain_text("Not measured")
    expect(page.locator("#dv-lab-chart .note")).to_contain_text("Best number of slots for greedy")
    for row in page.locator("#dv-lab-table tbody tr").all():
        assert float(row.locator(".estimated_tokens_per_second").inner_text()) > 0
    taus, speeds = charts.numbers(page, "dv-lab-chart")
    assert len(taus["rows"]) == len(speeds["rows"]) == 15
    assert taus["rows"][14][1] == f"{tau(run):.3f}"
    costs = page.locator("#dv-lab-table .details").inner_text()
    assert all(f"ms at {slots} (n " in costs for slots in (0, 1, 3, 7, 11, 15))


def test_a_recording_can_be_stopped(visit, live):
    page = visit(live)
    expect(page.locator("#dv-run")).to_have_text("Run", timeout=LOADED_MS)
    ask(page, max_tokens=120)
    finished(page)
    tokens = page.evaluate("dcoco.lanes.a.tokens.length")
    page.get_by_role("tab", name="Path lab").click()
    seen.arrived(page)
    page.get_by_role("button", name="Record a dense trace of this run").click()
    expect(page.locator("#dv-lab-progress")).to_contain_text(f"of {tokens} tokens", timeout=DECODED_MS)
    page.locator("#dv-lab-work").get_by_role("button", name="Stop").click()
    expect(page.locator(".dv-banner[role=alert]")).to_contain_text("Stopped after", timeout=DECODED_MS)
    expect(page.locator("#dv-lab-table tr.own .dense_tau")).to_have_text("–")
    expect(page.get_by_role("button", name="Record a dense trace of this run")).to_be_enabled()
