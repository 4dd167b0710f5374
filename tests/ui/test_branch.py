"""Branching: the button and the key, runs that began with given text, and records that submitted nothing."""

import pytest
from playwright.sync_api import expect

from dcoco_viz.metrics.prefix import truth
from dcoco_viz.trace import files
from tests.ui.conftest import serving
from tests.ui.reading import go, grid, shown, wait_for_cycles
from tests.ui.tiling import branch, dense

CUT = 6  # the cycle at which the branch begins


@pytest.fixture(scope="module")
def source(recorded):
    return next(run for run in recorded[1] if run.cycles[-1].scores is not None)


@pytest.fixture(scope="module")
def served(source, tmp_path_factory):
    """A branch of a recorded run, and a dense record of it, beside each other."""
    folder = tmp_path_factory.mktemp("branch")
    runs = [branch(source, CUT), dense(source)]
    files.save(folder / "branch.parquet", runs)
    with serving("--replay", str(folder / "branch.parquet"), log=folder / "log") as url:
        yield url, *runs


@pytest.fixture
def page(visit, served):
    page = visit(served[0])
    for lane, run in zip("ab", served[1:], strict=True):
        wait_for_cycles(page, len(run.cycles), lane)
    return page


def test_the_given_text_comes_first_and_is_marked(page, served):
    _, run, _ = served
    spans = page.locator(".dv-transcript[data-lane=a] .tok")
    kinds = spans.evaluate_all("spans => spans.map(span => span.classList.contains('given'))")
    n = len(run.request.continued)
    assert n and kinds == [True] * n + [False] * len(run.token_ids)
    assert run.text in page.locator(".dv-transcript[data-lane=a] .text").evaluate("box => box.textContent")
    expect(page.locator(".dv-transcript[data-lane=a] .legend")).to_contain_text("given")
    expect(page.locator(".dv-transcript[data-lane=b] .legend li").first).to_be_hidden()


def test_the_truth_stays_right_behind_given_text(page, served):
    _, run, _ = served
    go(page, 2)
    cycle, seen = run.cycles[2], grid(page)
    for j, token in enumerate(truth(run, cycle).tolist()):
        if j > cycle.accepted and token >= 0:
            assert seen["feet"][j]["token"] == shown(page, run.pieces[token])


def test_a_branch_names_its_parent_and_opens_it(page):
    head = page.locator(".dv-readout[data-lane=a] h2")
    expect(head).to_contain_text("the other way")
    page.evaluate("dcoco.open = (place) => { window.asked = place; }")
    head.get_by_role("button", name="branch of").click()
    parent = page.evaluate("dcoco.lanes.b.run.id")  # the run of this id that came in the same file
    assert page.evaluate("asked") == {"view": "explore", "runs": [parent], "cycle": CUT}
    expect(page.locator(".dv-readout[data-lane=b]").get_by_role("button", name="branch of")).to_be_hidden()


def test_a_dense_record_was_not_submitted(page, served):
    _, _, run = served
    cycle = next(c for c in run.cycles[3:] if c.candidates is not None)
    go(page, cycle.index, "b")
    seen = grid(page, "b")
    assert seen["heads"] == ["not sent"] * len(cycle.candidates)
    assert all("unsent" in c["marks"] for c in seen["cells"])
    assert seen["rule"] is None
    assert "not submitted" in seen["caption"] and "accepted" not in seen["caption"]
    assert page.locator(".dv-transcript[data-lane=b] .tok.lit").count() == 1


def test_a_cell_branches_where_the_text_reaches_it(page, served):
    _, run, _ = served
    page.evaluate("dcoco.branch = undefined")  # as in a report, where nothing can be decoded
    go(page, 1)
    cycle, button = run.cycles[1], page.locator(".dv-grid[data-lane=a] .branch")
    later = truth(run, cycle).tolist()
    expect(button).to_be_hidden()
    page.evaluate("dcoco.branch = (place) => { window.asked = place; }")
    for slot, rank in [(0, 0), (0, 3), (2, 1), (4, 5)]:
        cell = page.locator(f".dv-grid[data-lane=a] td[data-slot='{slot}'][data-rank='{rank}']")
        cell.hover()
        cell.focus()
        expect(button).to_be_visible()
        there = all(token >= 0 for token in later[: slot + 1])
        other = int(cycle.candidates[slot, rank]) != later[slot]
        expect(button).to_have_attribute("aria-disabled", "false" if there and other else "true")
        for act in (lambda cell=cell: cell.press("b"), lambda: button.dispatch_event("click")):
            page.evaluate("window.asked = null")
            act()
            wanted = {"run": page.evaluate("dcoco.lanes.a.run.id"), "cycle": 1, "slot": slot + 1, "rank": rank}
            assert page.evaluate("window.asked") == (wanted if there and other else None)


def test_no_branch_behind_the_end_of_the_text(page, served):
    _, run, _ = served
    last = run.cycles[-1]
    go(page, last.index)
    page.evaluate("dcoco.branch = (place) => { window.asked = place; }")
    missing = truth(run, last).tolist().index(-1)
    cell = page.locator(f".dv-grid[data-lane=a] td[data-slot='{missing + 1}'][data-rank='0']")
    cell.focus()
    button = page.locator(".dv-grid[data-lane=a] .branch")
    expect(button).to_have_attribute("aria-disabled", "true")
    assert "ends before" in button.get_attribute("title")
