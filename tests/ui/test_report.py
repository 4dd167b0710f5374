"""A report opened from disk, without any network: what its pictures show, compared with the trace."""

import copy

import numpy as np
import pytest
from playwright.sync_api import expect

from dcoco_viz.metrics.summary import summary
from dcoco_viz.report import content, document
from tests.ui.reading import SETTLE, go, grid, heatmap, numbers, shown, until, wait_for_cycles

BAD = "</script><img src=x onerror=\"window.hacked=1\"><!--"


@pytest.fixture
def read(chromium, tmp_path):
    """Opens a report of these runs; fails on any script error, refused script or request beside the file itself."""
    contexts, wrong = [], []

    def open_report(runs, limit=content.SCORES, **options):
        path = tmp_path / "report.html"
        document.save(path, runs, limit)
        contexts.append(chromium.new_context(offline=True, **{"viewport": {"width": 1280, "height": 1000}, **options}))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.on("request", lambda request: request.url == path.as_uri() or wrong.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert not wrong


def scored(recorded):
    return next(run for run in recorded[1] if run.cycles[-1].scores is not None)


def all_shown(page, pieces):
    """`shown` of each, in one go."""
    raw = [piece.encode("utf-8", "surrogateescape").decode("latin-1") for piece in pieces]
    return page.evaluate("pieces => pieces.map((piece) => dcoco.visible(piece))", raw)


def test_grid_and_heatmap_of_several_cycles(read, recorded):
    run = scored(recorded)
    page = read([run])
    wait_for_cycles(page, len(run.cycles))
    for cycle in (run.cycles[0], run.cycles[len(run.cycles) // 2], run.cycles[-1]):
        go(page, cycle.index)
        seen = grid(page)
        assert f"{cycle.accepted} of {cycle.submitted} accepted" in seen["caption"]
        chosen = {(c["slot"], c["rank"]) for c in seen["cells"] if "chosen" in c["marks"]}
        assert chosen == set(enumerate(cycle.ranks.tolist()))
        p = np.exp(cycle.logits - cycle.lognorm[:, None])
        tokens = [int(cycle.candidates[cell["slot"], cell["rank"]]) for cell in seen["cells"]]
        assert [cell["token"] for cell in seen["cells"]] == all_shown(page, [run.pieces[token] for token in tokens])
        for cell in seen["cells"]:
            assert cell["p"] == "<.001" or abs(float(cell["p"]) - p[cell["slot"], cell["rank"]]) < 6e-4
        for pair in (0, 13):
            page.locator(".dv-transitions").get_by_label("Slot pair", exact=True).select_option(str(pair))
            page.evaluate(SETTLE)
            until(page, f"dcoco.lanes.a.scoresOf({cycle.index}, {pair}) && !document.querySelector('.stale')")
            page.evaluate(SETTLE)
            found = heatmap(page)
            assert np.abs(numbers(found) - cycle.scores[pair].astype(float)).max() <= 0.0501
            assert found["walked"] == [[cycle.ranks[pair], cycle.ranks[pair + 1]]]


def test_a_comparison_of_four_stacks_them(read, recorded):
    runs = [copy.copy(run) for run in (*recorded[1], *recorded[1])]
    page = read(runs)
    expect(page.get_by_role("heading", level=1)).to_have_text("4 runs compared")
    for lane, run in zip("abcd", runs, strict=True):
        wait_for_cycles(page, len(run.cycles), lane)
        number = page.locator(f".dv-readout[data-lane={lane}] .item-tau .number")
        assert number.inner_text() == f"{summary(run).tau:.2f}"
        go(page, 3, lane)
        assert f"{run.cycles[3].accepted} of" in grid(page, lane)["caption"]
    row = page.get_by_role("table", name="Numbers of each run").get_by_role("row", name="tok/s")
    assert row.locator("td").all_inner_texts() == [f"{summary(run).tokens_per_second:.1f}" for run in runs]
    accepted = page.get_by_role("table", name="Cycles by accepted length").locator("tbody tr")
    for i, counts in enumerate(content.histograms(runs)):
        assert accepted.nth(i).locator("td").all_inner_texts() == [str(n) for n in counts]


def test_hostile_text_stays_text(read, recorded):
    run = copy.deepcopy(scored(recorded))
    first = run.cycles[0]
    run.pieces |= dict.fromkeys([*first.candidates[0].tolist(), int(first.committed[0])], BAD)
    run.name = run.request.prompt = run.request.system = run.meta["hardware"] = BAD
    page = read([run])
    wait_for_cycles(page, len(run.cycles))
    assert {c["token"] for c in grid(page)["cells"] if c["slot"] == 0} == {shown(page, BAD)}
    assert page.get_by_role("heading", level=1).inner_text() == BAD and BAD in page.title()
    assert page.locator(".asked dd").all_inner_texts() == [BAD, BAD]
    assert page.locator("img").count() == 0 and page.evaluate("window.hacked") is None


def test_scores_that_were_left_out_are_spoken_of(read, recorded):
    run = scored(recorded)
    page = read([run], limit=10 * -(-run.cycles[0].scores.nbytes * 4 // 3))
    wait_for_cycles(page, len(run.cycles))
    expect(page.locator(".note", has_text="are left out")).to_contain_text(f"cycles 11 to {len(run.cycles)}")
    go(page, 9)
    until(page, "dcoco.lanes.a.scoresOf(9, dcoco.lanes.a.pair)")
    go(page, 10)
    expect(page.locator(".dv-transitions table")).to_be_hidden()
    assert len(grid(page)["cells"]) == 240


def test_keys_and_theme(read, recorded):
    run = scored(recorded)
    page = read([run], color_scheme="dark")
    wait_for_cycles(page, len(run.cycles))
    assert page.evaluate("document.body.classList.contains('dark')")
    page.locator("body").press("ArrowRight")
    until(page, "dcoco.lanes.a.selected === 1")
    page.emulate_media(color_scheme="light")
    until(page, "!document.body.classList.contains('dark')")


def test_a_phone_scrolls_parts_of_it_and_not_the_page(read, recorded):
    page = read(recorded[1], viewport={"width": 390, "height": 800})
    wait_for_cycles(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
