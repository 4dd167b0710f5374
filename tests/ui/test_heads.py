"""Heads that are not DCOCO's corrector: what the page shows of a serial and of an anchored one."""

import numpy as np
import pytest
from playwright.sync_api import expect

from dcoco_viz.lab.replay import SERIAL
from dcoco_viz.report import document
from dcoco_viz.trace import files
from tests.ui import heads
from tests.ui import lab as seen
from tests.ui.conftest import serving
from tests.ui.reading import SETTLE, go, grid, heatmap, numbers, shown, until, wait_for_cycles, wait_for_lanes
from tests.ui.test_motion import FREEZE, INSIDE, THAW, WATCH
from tests.ui.test_replay import number

ALONE = "Domino scores only the successors of what it has chosen: there is no grid of transitions."


@pytest.fixture(scope="module")
def lanes(recorded):
    run = next(run for run in recorded[1] if run.cycles[-1].scores is not None)
    return {"a": heads.serial(run), "b": heads.anchored(run)}


@pytest.fixture(scope="module")
def address(lanes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("heads")
    files.save(folder / "heads.parquet", list(lanes.values()))
    with serving("--replay", str(folder / "heads.parquet"), log=folder / "log") as url:
        yield url


@pytest.fixture
def page(visit, address, lanes):
    page = visit(address)
    wait_for_lanes(page, lanes)
    return page


def pick(page, lane, pair):
    """Look at that slot pair, -1 from the anchor, and wait for its scores."""
    view = page.locator(f".dv-transitions[data-lane={lane}]")
    view.get_by_label("Slot pair", exact=True).select_option(str(pair))
    label = f"from {'the anchor' if pair < 0 else f'slot {pair + 1}'} to slot {pair + 2}"
    expect(view.locator("caption")).to_contain_text(label)
    expect(view.locator(".stale")).to_have_count(0)
    page.evaluate(SETTLE)


def read(page, lane, mode):
    page.locator(f".dv-transitions[data-lane={lane}]").get_by_role("button", name=mode, exact=True).click()
    page.evaluate(SETTLE)
    return numbers(heatmap(page, lane))


def near(found, wanted):
    return found.shape == wanted.shape and np.abs(found - wanted).max() <= 0.0501


def one_row(page, run, cycle, lane, pair):
    """The row behind the chosen token, or the anchor, is that of `corrected`, in every mode."""
    go(page, cycle.index, lane)
    pick(page, lane, pair)
    scores, base = cycle.corrected[pair + 1 : pair + 2], cycle.logits[pair + 1 : pair + 2]
    delta = scores - base
    assert near(read(page, lane, "base"), base)
    assert near(read(page, lane, "Δ"), delta - delta.mean())
    assert near(read(page, lane, "S"), scores)
    found = heatmap(page, lane)
    before = cycle.anchor if pair < 0 else int(cycle.candidates[pair, cycle.ranks[pair]])
    assert found["rows"] == [shown(page, run.pieces[before])]
    assert found["columns"] == [shown(page, run.pieces[int(t)]) for t in cycle.candidates[pair + 1]]
    assert found["walked"] == [[0, cycle.ranks[pair + 1]]]


def test_a_serial_head_shows_the_one_row_that_it_scored(page, lanes):
    run, view = lanes["a"], page.locator(".dv-transitions[data-lane=a]")
    expect(view.locator(".note")).to_have_text(ALONE)
    assert view.get_by_label("Slot pair", exact=True).locator("option").all_inner_texts()[:2] == [
        "anchor → 1", "slot 1 → 2"
    ]  # fmt: skip
    for cycle in (run.cycles[0], run.cycles[3], run.cycles[-1]):
        for pair in (-1, 0, 13):
            one_row(page, run, cycle, "a", pair)


def test_an_anchored_head_has_its_grid_and_a_row_behind_the_anchor(page, lanes):
    run, view = lanes["b"], page.locator(".dv-transitions[data-lane=b]")
    expect(view.locator(".note")).to_be_hidden()
    for cycle in (run.cycles[0], run.cycles[-1]):
        one_row(page, run, cycle, "b", -1)
        pick(page, "b", 4)
        assert near(read(page, "b", "S"), cycle.scores[4].astype(float))
        assert heatmap(page, "b")["walked"] == [[cycle.ranks[4], cycle.ranks[5]]]


@pytest.mark.parametrize("lane", ["a", "b"])
def test_a_cell_shows_what_the_head_said_of_it(page, lanes, lane):
    run, view = lanes[lane], page.locator(f".dv-grid[data-lane={lane}]")
    for cycle in (run.cycles[0], run.cycles[4]):
        go(page, cycle.index, lane)
        argmax = {cell["slot"] for cell in grid(page, lane)["cells"] if "argmax" in cell["marks"]}
        assert argmax == set(np.flatnonzero(cycle.ranks != 0))
        for slot, rank in ((0, int(cycle.ranks[0])), (0, 3), (1, 0), (6, int(cycle.ranks[6])), (14, 15)):
            view.locator(f"td[data-slot='{slot}'][data-rank='{rank}']").focus()
            read = {name: view.locator(f".detail .item-{name} dd") for name in ("after", "score", "base", "delta")}
            score, base = float(cycle.corrected[slot, rank]), float(cycle.logits[slot, rank])
            assert number(read["score"].inner_text()) == pytest.approx(score, abs=0.0051)
            assert number(read["base"].inner_text()) == pytest.approx(base, abs=0.0051)
            assert number(read["delta"].inner_text()) == pytest.approx(score - base, abs=0.0051)
            before = int(cycle.candidates[slot - 1, cycle.ranks[slot - 1]]) if slot else cycle.anchor
            assert read["after"].inner_text() == shown(page, run.pieces[before])


def test_a_click_into_the_first_slot_shows_the_step_from_the_anchor(page):
    page.locator(".dv-grid[data-lane=a] td[data-slot='0'][data-rank='2']").click()
    expect(page.locator(".dv-transitions[data-lane=a] caption")).to_contain_text("from the anchor to slot 1")
    page.keyboard.press("Tab")
    page.evaluate("dcoco.lanes.a.setPair(-5)")
    expect(page.locator(".dv-transitions[data-lane=a] caption")).to_contain_text("from the anchor to slot 1")


def test_the_row_is_drawn_in_motion_as_it_stands(page):
    page.evaluate(WATCH)
    page.evaluate(FREEZE, 2)
    heat = page.evaluate(INSIDE, ".dv-transitions[data-lane=a]")
    page.evaluate(THAW)
    page.evaluate(SETTLE)
    assert [cell["texts"] for cell in heat] == [[text] for row in heatmap(page, "a")["cells"] for text in row]


def test_the_lab_offers_what_a_serial_head_lets_it_replay(visit, address, lanes):
    page = visit(f"{address}?view=lab")
    seen.arrived(page)
    assert [row["walk"] for row in seen.table(page, ["greedy", "greedy+cut:0.3"])] == ["greedy", "greedy+cut:0.3"]
    expect(page.locator("#dv-lab-table .notes").first).to_contain_text(SERIAL)
    expect(page.locator("#dv-lab-page")).to_contain_text("chose slot by slot")
    expect(page.get_by_label("number input for Candidates K")).to_be_disabled()
    seen.add(page, "beam:2")
    expect(page.get_by_text(SERIAL).last).to_be_visible()
    seen.add(page, "greedy+cut:0.1")
    seen.table(page, ["greedy", "greedy+cut:0.3", "greedy+cut:0.1"])
    page.get_by_label("Run", exact=True).click()
    page.get_by_role("option", name="DCOCO, anchored").first.click()
    expect(page.get_by_label("number input for Candidates K")).to_be_enabled()
    expect(page.locator("tr[data-walk=global-sum]")).to_be_visible()


def test_a_report_holds_both(chromium, lanes, tmp_path):
    path = tmp_path / "report.html"
    document.save(path, list(lanes.values()), limit=0)  # no room for a grid: what the path saw is there all the same
    page = chromium.new_context(offline=True).new_page()
    page.goto(path.as_uri())
    for lane, run in lanes.items():
        wait_for_cycles(page, len(run.cycles), lane)
        cycle = run.cycles[2]
        go(page, cycle.index, lane)
        page.locator(f".dv-grid[data-lane={lane}] td[data-slot='5'][data-rank='1']").focus()
        read = page.locator(f".dv-grid[data-lane={lane}] .detail .item-score dd").inner_text()
        assert number(read) == pytest.approx(float(cycle.corrected[5, 1]), abs=0.0051)
    expect(page.locator(".dv-transitions[data-lane=a] .note")).to_have_text(ALONE)
    assert near(numbers(heatmap(page, "a")), lanes["a"].cycles[2].corrected[1:2])
    expect(page.locator(".dv-transitions[data-lane=b] table")).to_be_hidden()
    until(page, "document.title.includes('2 runs')")
    page.context.close()
