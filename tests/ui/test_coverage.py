"""The Coverage view: the traces that were drawn and the tables beside them, read back and compared with metrics."""

import numpy as np
import pytest
from playwright.sync_api import expect

from dcoco_viz.figures.style import FEW, GAP, shown
from dcoco_viz.metrics.acceptance import acceptance
from dcoco_viz.metrics.blocks import blocks
from dcoco_viz.metrics.coverage import KS, coverage, saveable
from dcoco_viz.metrics.names import DEFINITIONS
from dcoco_viz.metrics.paper import paper
from dcoco_viz.metrics.prefix import mean_prefixes
from dcoco_viz.metrics.survival import budget, survival
from dcoco_viz.tabs.groups import label, source
from dcoco_viz.trace import files
from tests.ui.charts import drawn, numbers
from tests.ui.reading import wait_for_cycles
from tests.unit.factory import make_run

HOSTILE = "<img src=//elsewhere.example onerror=alert(1)>"
B = 15


@pytest.fixture(scope="module")
def seen(chromium, replay, recorded):
    """What the view shows of the recorded runs: chart -> (panels as drawn, tables), read once."""
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(90_000)
    page.goto(replay)
    wait_for_cycles(page, len(recorded[1][0].cycles))
    look(page)
    panels = {"coverage": 2, "survival": 2, "budget": 1, "acceptance": 2, "saveable": 1}
    charts = {name: f"dv-chart-{name}" for name in panels}
    yield {name: (drawn(page, charts[name], count), numbers(page, charts[name])) for name, count in panels.items()}
    page.close()


def look(page):
    page.get_by_role("tab", name="Coverage").click()


def offer(page, path, runs):
    """Open a trace, as a visitor's own runs."""
    files.save(path, runs)
    before = page.evaluate("dcoco.lanes.a.run.id")
    page.locator("#dv-files input[type=file]").set_input_files(str(path))
    page.wait_for_function(f"dcoco.lanes.a.run.id !== '{before}'")


def curves(panel):
    """name -> (values by slot, [shown, n] by slot, symbols), of what is drawn over all slots."""
    found = {}
    for trace in panel["data"]:
        if not trace["name"].startswith("paper") and len(trace["x"]) > 1:
            assert trace["x"] == list(range(1, len(trace["x"]) + 1))
            found[trace["name"]] = trace["y"], trace["customdata"], trace["marker"]["symbol"]
    return found


def same(curve, values, counts):
    seen, told, symbols = curve
    values, counts = np.asarray(values).tolist(), np.asarray(counts).tolist()
    assert seen == [None if np.isnan(value) else value for value in values]
    assert told == [[shown(value), count] for value, count in zip(values, counts, strict=True)]
    assert [symbol.endswith("-open") for symbol in symbols] == [count < FEW for count in counts]


def test_coverage_by_slot(seen, recorded):
    panels, tables = seen["coverage"]
    for panel, table, run in zip(panels, tables, recorded[1], strict=True):
        found = coverage([run])
        assert panel["label"] == f"{label(run.request.method)}: {len(run.cycles)} blocks"
        assert panel["points"] == len(KS) * (B + 1) + len(paper().coverage)
        for k in KS:
            same(curves(panel)[f"top-{k}"], found.share[k], found.counts)
            column = table["head"].index(f"top-{k}")
            cells = {row[0]: row[column] for row in table["rows"]}
            expected = {str(j + 1): f"{found.share[k][j]:.3f} n {found.counts[j]}" for j in range(B)}
            assert cells == expected | {"mean": f"{found.mean(k):.3f}"}
        for mark in paper().coverage:
            column = table["head"].index(f"paper, Qwen3-8B: top-{mark.k}")
            assert mark.shown in {row[0]: row[column] for row in table["rows"]}[str(mark.slot)]


def test_survival_and_the_budget_of_a_block(seen, recorded):
    (panels, _), ((bars,), (table,)) = seen["survival"], seen["budget"]
    bars = bars["data"]
    for i, (panel, run) in enumerate(zip(panels, recorded[1], strict=True)):
        found, means = survival(blocks([run])), budget(blocks([run]))
        for name, path in (("oracle", "oracle"), ("selected", "selected"), ("top-1", "top1")):
            same(curves(panel)[name], found.share[path], [found.blocks] * B)
        top1, selected, oracle = mean_prefixes([run])
        parts = [top1, selected - top1, oracle - selected, B - oracle]
        assert [trace["y"][i] for trace in bars] == [label(run.request.method)] * 4
        assert sum(trace["x"][i] for trace in bars) == pytest.approx(B)
        assert [trace["customdata"][i] for trace in bars] == [[shown(part), found.blocks] for part in parts]
        assert table["rows"][i] == [label(run.request.method), *(f"{part:.3f} n {found.blocks}" for part in parts)]
        assert means.slots == B


def test_acceptance_and_what_the_pool_could_save(seen, recorded):
    ((given, whole), _), ((saved,), (table,)) = seen["acceptance"], seen["saveable"]
    for run in recorded[1]:
        name, found, could = label(run.request.method), acceptance([run]), saveable(blocks([run]))
        same(curves(given)[name], found.conditional, found.reached)
        same(curves(whole)[name], found.unconditional, found.submitted)
        same(curves(saved)[name], could.share, could.wrong)
        (total,) = [trace for trace in saved["data"] if trace["name"] == name and len(trace["x"]) == 1]
        assert (total["x"], total["y"], total["customdata"]) == ([B + GAP], [could.in_all], [[shown(could.in_all)]])
    rows = {row[0]: row for row in table["rows"]}
    assert rows["all"][-1] == "0.59"  # the paper's, the last column


def test_the_papers_marks_are_labelled_and_can_be_left_out(page, seen):
    for name in ("coverage", "saveable"):
        for panel in seen[name][0]:
            marks = [trace for trace in panel["data"] if trace["marker"]["symbol"] in ("star-open", "hexagram-open")]
            assert marks and all(trace["name"].startswith("paper, Qwen3-8B") for trace in marks)
    look(page)
    for name in ("coverage", "saveable"):
        expect(page.locator(f"#dv-chart-{name} .note")).to_contain_text("Hollow stars: Qwen3-8B")
    drawn(page, "dv-chart-coverage", 2)
    expect(page.locator("#dv-chart-coverage .legendtext").filter(has_text="paper, Qwen3-8B")).to_have_count(4)
    page.get_by_label("Show the paper's Qwen3-8B").press("Space")
    expect(page.locator("#dv-panel-coverage .legendtext").filter(has_text="paper")).to_have_count(0)
    expect(page.locator("#dv-chart-coverage .note")).not_to_contain_text("Hollow")
    assert len(drawn(page, "dv-chart-coverage", 2)[0]["data"]) == 2 * len(KS)
    # and every chart explains itself
    for name in ("coverage", "survival", "budget", "acceptance", "saveable"):
        term = page.locator(f"#dv-chart-{name} h3 .dv-term")
        term.focus()
        tip = page.locator(f"#dv-chart-{name} h3 .dv-tip")
        expect(tip).to_be_visible()
        expect(tip.locator("code")).to_have_text(DEFINITIONS[name].formula)


def test_all_runs_of_a_visitor_by_method_and_by_source(page, recorded, tmp_path):
    look(page)
    drawn(page, "dv-chart-coverage", 2)
    page.get_by_label("All my runs, by method").check()
    expect(page.locator("#dv-coverage-empty")).to_contain_text("no recorded runs")
    expect(page.locator("#dv-panel-coverage figure:visible")).to_have_count(0)
    page.get_by_role("button", name="Go to Explore").click()
    # two runs of one method become one series; a dense one is left out, and the page says so
    more = make_run(slots=15, pool=16, cycles=12, seed=1)
    dense = make_run(slots=15, pool=16, cycles=3, seed=2, record="dense")
    offer(page, tmp_path / "own.parquet", [*recorded[1], more, dense])
    look(page)  # it has kept its settings
    methods = ["dflash", "dcoco"]
    titles = page.locator("#dv-chart-coverage h4")
    expect(titles.first).to_contain_text("DFlash")
    panels = drawn(page, "dv-chart-coverage", 2)
    for panel, method in zip(panels, methods, strict=True):
        runs = [run for run in (*recorded[1], more) if run.request.method == method]
        found, many = coverage(runs), f" of {len(runs)} runs" if len(runs) > 1 else ""
        assert panel["label"] == f"{label(method)}: {sum(len(run.cycles) for run in runs)} blocks{many}"
        same(curves(panel)["top-16"], found.share[16], found.counts)
    expect(page.locator("#dv-coverage-basis")).to_contain_text("Dense recordings left out")
    page.get_by_label("All my runs, by source").check()
    page.get_by_label("of method").click()
    page.get_by_role("option", name="DCOCO", exact=True).click()
    dcoco = [run for run in (*recorded[1], more) if run.request.method == "dcoco"]
    sums = {}
    for run in dcoco:
        sums.setdefault(source(run), []).append(len(run.cycles))
    for group, cycles in sums.items():
        several = f" of {len(cycles)} runs" if len(cycles) > 1 else ""
        expect(titles.filter(has_text=group)).to_have_text(f"{group}: {sum(cycles)} blocks{several}")


def test_a_view_without_numbers_says_why(page, tmp_path):
    runs = [make_run(method="none"), make_run(record="light", method="dflash"), make_run(slots=5, pool=3)]
    runs[2].request.temperature = 0.7
    offer(page, tmp_path / "odd.parquet", runs)
    look(page)
    drawn(page, "dv-chart-coverage", 1)
    notes = {
        name: page.locator(f"#dv-chart-{name} .note").inner_text()
        for name in ("coverage", "survival", "budget", "acceptance", "saveable")
    }
    for name, note in notes.items():
        assert "No speculation: plain decoding drafts nothing." in note
        assert ("DFlash: recorded without candidates (level light)" in note) == (name != "acceptance")
        assert ("only at T = 0" in note) == (name in ("survival", "budget", "saveable"))
    assert set(curves(drawn(page, "dv-chart-acceptance", 2)[0])) == {"DFlash", "DCOCO"}


def test_a_name_is_text_wherever_it_stands(page, tmp_path):
    runs = [make_run(slots=5, pool=3), make_run(slots=5, pool=3)]
    runs[0].name = HOSTILE
    offer(page, tmp_path / "hostile.parquet", runs)
    look(page)
    drawn(page, "dv-chart-saveable")
    name = f"DCOCO, {HOSTILE}"
    expect(page.locator("#dv-chart-saveable .legendtext").first).to_have_text(name)
    expect(page.locator("#dv-chart-coverage h4").first).to_contain_text(name)
    assert numbers(page, "dv-chart-saveable")[0]["head"][1] == name
    assert numbers(page, "dv-chart-budget")[0]["rows"][0][0] == name
    assert page.locator("#dv-panel-coverage img").count() == 0
