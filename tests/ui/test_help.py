"""Help in place, and the keys that work in every view."""

import pytest
from playwright.sync_api import expect

from dcoco_viz.components.help import KEYS, VIEWS
from dcoco_viz.metrics.names import DEFINITIONS
from dcoco_viz.page import VIEWS as SHOWN
from tests.ui.reading import SETTLE


def dialog(page):
    return page.get_by_role("dialog", name="Help")


def test_a_key_opens_it_and_escape_gives_the_focus_back(page):
    text = page.locator(".dv-transcript[data-lane=a] .text")
    text.focus()
    page.keyboard.press("?")
    expect(dialog(page)).to_be_visible()
    page.keyboard.press("ArrowRight")  # the page behind it stays where it is
    page.keyboard.press("Escape")
    expect(dialog(page)).to_be_hidden()
    expect(text).to_be_focused()
    page.evaluate(SETTLE)
    assert page.evaluate("dcoco.lanes.a.selected") == 0


@pytest.mark.parametrize("view", SHOWN)
def test_the_button_opens_it_in_every_view(page, view):
    page.evaluate(f"dcoco.open({{view: '{view}'}})")
    page.get_by_role("button", name="Help", exact=True).click()
    expect(dialog(page)).to_be_visible()
    page.get_by_role("button", name="Close (Esc)").click()
    expect(dialog(page)).to_be_hidden()


def test_it_explains_every_number(page):
    page.keyboard.press("?")
    seen = dialog(page).locator(".glossary .entry").evaluate_all(
        """entries => entries.map(e => [e.dataset.name, e.querySelector("dt").textContent,
           e.querySelector("code").textContent, e.querySelector("dd").textContent,
           e.querySelector(".paper")?.textContent ?? ""])"""
    )
    assert [name for name, *_ in seen] == list(DEFINITIONS)
    for (_, label, formula, text, paper), known in zip(seen, DEFINITIONS.values(), strict=True):
        assert (label, formula) == (known.label, known.formula)
        assert known.text in text
        assert paper == (f"The paper: {known.paper}" if known.paper else "")


def test_it_names_the_views_and_the_keys(page):
    page.keyboard.press("?")
    assert list(VIEWS) == [label for label, _ in SHOWN.values()]
    assert dialog(page).locator(".views dt").all_inner_texts() == list(VIEWS)
    assert dialog(page).locator(".keys kbd").all_inner_texts() == [key for keys, _ in KEYS for key in keys]


def test_c_compares_the_runs_that_are_shown(page):
    runs = page.evaluate("[dcoco.lanes.a.run.id, dcoco.lanes.b.run.id].join()")
    page.keyboard.press("c")
    expect(page.get_by_role("tab", name="Compare")).to_have_attribute("aria-selected", "true")
    page.wait_for_function(f"location.search.includes('run={runs}') && location.search.includes('view=compare')")


def test_keys_are_text_where_somebody_types(page):
    page.evaluate("document.body.append(Object.assign(document.createElement('textarea'), {id: 'typed'}))")
    page.locator("#typed").press_sequentially("c?")
    assert page.locator("#typed").input_value() == "c?"
    assert not dialog(page).is_visible()
    expect(page.get_by_role("tab", name="Explore")).to_have_attribute("aria-selected", "true")
