"""Compare, live: two methods and the baseline, twice each, decoded in turn by the real engine."""

import pytest
from playwright.sync_api import expect

from dcoco_viz.metrics.names import DEFINITIONS
from tests.ui.conftest import LOADED_MS

DECODED_MS = 180_000


@pytest.fixture
def page(visit, live):
    page = visit(f"{live}?view=compare")
    start = page.locator("#dv-compare-start")
    expect(start).to_have_text("Compare", timeout=LOADED_MS)
    expect(start).to_be_enabled()
    return page


def ask(page, tokens=24, repeat=1):
    page.get_by_label("Prompt", exact=True).fill("Count from one to twenty, in words.")
    page.get_by_label("Max tokens", exact=True).fill(str(tokens))
    page.get_by_label("Repeat (1 to 10)").fill(str(repeat))
    page.locator("#dv-compare-start").click()


def test_entries_are_decoded_in_turn_and_compared(page):
    page.evaluate("""() => {
      window.said = [];
      const words = document.querySelector(".dv-progress [role=status]");
      new MutationObserver(() => said.push(words.textContent)).observe(words, {childList: true});
    }""")
    ask(page, repeat=2)
    rows = page.locator(".dv-table tbody tr")
    expect(rows).to_have_count(3, timeout=DECODED_MS)
    expect(page.locator("#dv-compare-start")).to_be_enabled(timeout=DECODED_MS)
    heard = [text.split(",")[0] for text in page.evaluate("said") if text]
    order = list(dict.fromkeys(heard))
    names = ("DCOCO", "DFlash", "No speculation")
    assert order == [f"Warming up {i} of 3: {name}" for i, name in enumerate(names, 1)] + [
        f"Run {i} of 6: {name}" for i, name in enumerate(names * 2, 1)
    ]
    for row, name in zip(rows.all(), names, strict=True):
        expect(row).to_contain_text(name)
        expect(row).to_contain_text("2 repeats")
        assert row.locator("td.output_tokens .number").inner_text() == "24"
    number = rows.nth(2).locator("td.speedup .number")
    assert number.evaluate("cell => cell.firstChild.textContent") == "1.00"  # a star may follow
    expect(page.locator(".dv-table .note")).to_contain_text(DEFINITIONS["repeats"].formula)
    expect(page.locator(".dv-verdict .words")).to_contain_text("All 6 texts are equal token by token (24 tokens)")
    expect(page.locator(".dv-race .runner")).to_have_count(3)
    assert page.locator(".dv-diff .cell[data-run='2']").count() == 24
    shown = rows.evaluate_all("rows => rows.map(row => row.dataset.run)")
    page.wait_for_function(f"location.search.includes('{','.join(shown)}')")
    page.reload()  # the address reopens the comparison, with all its repeats
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("2 repeats")


def test_stop_leaves_what_there_is(page):
    ask(page, tokens=400)
    expect(page.locator(".dv-progress [role=status]")).to_contain_text("Run 2 of 3", timeout=DECODED_MS)
    page.locator("#dv-compare-stop").click()
    expect(page.locator("#dv-compare-start")).to_be_enabled(timeout=DECODED_MS)
    expect(page.locator(".dv-progress [role=status]")).to_have_text("Stopped: 1 of 3 runs are whole.")
    expect(page.locator(".dv-table tbody tr").first).to_contain_text("DCOCO")
    expect(page.locator(".dv-table tbody tr").nth(1)).to_contain_text("broken off")


def test_entries_come_and_go(page):
    assert page.locator(".dv-entry:visible").count() == 2
    expect(page.get_by_role("button", name="Remove 1")).to_be_disabled()
    page.get_by_role("button", name="Add an entry").click()
    expect(page.locator(".dv-entry:visible")).to_have_count(3)
    page.get_by_label("Slots 3 (1 to 15)").fill("7")
    page.get_by_role("button", name="Remove 1").click()
    expect(page.locator(".dv-entry:visible")).to_have_count(2)
    expect(page.get_by_label("Slots 2 (1 to 15)")).to_have_value("7")
    expect(page.get_by_label("Method 1", exact=True)).to_have_value("DFlash")


@pytest.mark.parametrize(
    ("label", "value", "sentence"),
    [
        ("Walk 1", "sideways", "Entry 1: unknown walk 'sideways'"),
        ("Slots 2 (1 to 15)", "16", "Slots must be a number from 1 to 15"),
        ("Repeat (1 to 10)", "11", "Repeat must be a number from 1 to 10"),
    ],
)
def test_what_cannot_be_compared_is_explained(page, label, value, sentence):
    page.get_by_label("Prompt", exact=True).fill("Hello")
    field = page.get_by_label(label, exact=True)
    field.fill(value)
    field.press("Enter")
    field.blur()
    page.locator("#dv-compare-start").click()
    expect(page.locator(".dv-banner[role=alert]")).to_contain_text(sentence)
