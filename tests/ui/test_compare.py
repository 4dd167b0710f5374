"""Compare, on recorded runs: what it shows, read back and compared with the trace and the metrics."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from dcoco_viz.components.compared import Entry
from dcoco_viz.components.rescues import TOTALS, totals
from dcoco_viz.components.table import COLUMNS, table
from dcoco_viz.metrics.compare import arrivals, evidence, figures, located, parting, shared
from dcoco_viz.metrics.origin import origins
from dcoco_viz.metrics.prefix import accepted_histogram
from dcoco_viz.metrics.rescue import rescues
from dcoco_viz.presets import ROOT
from dcoco_viz.trace import files
from tests.ui.conftest import serving
from tests.ui.reading import SETTLE, shown, wait_for_cycles
from tests.unit.metrics.retold import retold

LETTERS = {"draft": "D", "corrected": "C", "bonus": "V", "prefill": "P", "plain": "·"}
NAMES = ("DCOCO", "DFlash")  # of `two`
PART = 40  # where the third of `four` leaves the text


@pytest.fixture(scope="module")
def two(recorded):
    return recorded[1]


@pytest.fixture(scope="module")
def four(two):
    """One question thrice: as recorded, in plain steps, and with other tokens from PART on; and another question."""
    tokens = two[0].token_ids
    other = [*tokens[:PART], tokens[PART + 1], *tokens[PART + 1 :]]
    train = files.load(ROOT / "assets" / "traces" / "train-problem.parquet")[0]
    plain = retold(two[0], "plain", method="none", ms=90.0)
    return [two[0], plain, retold(two[0], "other", method="dcoco-nohead", tokens=other, ms=70.0), train]


@pytest.fixture(scope="module")
def served(four, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    files.save(folder / "four.parquet", four)
    with serving("--replay", str(folder / "four.parquet"), log=folder / "log") as url:
        yield url


@pytest.fixture
def page(visit, replay):
    page = visit(f"{replay}?view=compare")
    expect(page.locator(".dv-table tbody tr")).to_have_count(2)
    page.locator(".dv-race").get_by_role("button", name="▶| end").click()
    return page


@pytest.fixture
def choose(visit, served):
    """Opens Compare about some of `four`, by their numbers."""

    def open_page(*numbers, **options):
        page = visit(f"{served}?view=compare", **options)
        rows = page.locator(".dv-table tbody tr")
        expect(rows).to_have_count(4)
        ids = rows.evaluate_all("rows => rows.map(row => row.dataset.run)")
        page.goto(f"{served}?view=compare&run={','.join(ids[n] for n in numbers)}")
        expect(rows).to_have_count(len(numbers))
        page.evaluate(SETTLE)
        return page

    return open_page


ROWS = """rows => rows.map(row => {
  const name = td => td.className.split(" ")[0], number = td => td.querySelector(".number").firstChild.textContent;
  return {cells: Object.fromEntries([...row.cells].slice(1, -1).map(td => [name(td), number(td)])),
          best: [...row.querySelectorAll("td.best")].map(name),
          bars: [...row.querySelectorAll(".bars li")].map(
            li => [li.querySelector("b").textContent, li.querySelector("i").offsetHeight])};
})"""


def by_time(two):
    """Who finished first, and who second."""
    return np.argsort([arrivals(run)[-1] for run in two]).tolist()


def rows(page):
    return page.locator(".dv-table tbody tr").evaluate_all(ROWS)


def race(page):
    """ms, and for every runner its tally and the positions of the tokens that are seen."""
    return page.evaluate("""() => ({
      t: +document.querySelector(".dv-race .scrub").getAttribute("aria-valuenow"),
      lead: document.querySelector(".dv-race .lead").textContent,
      runners: [...document.querySelectorAll(".dv-race .runner")].map(lane => ({
        tally: +lane.querySelector(".tally b").textContent,
        seen: [...lane.querySelectorAll(".tok")].filter(tok => !tok.hidden).map(tok => +tok.dataset.i)}))})""")


def in_explore(page, run, cycle):
    """Explore shows this cycle, from 0, of this run; and the address says so."""
    page.wait_for_function("document.body.dataset.view === 'explore'")
    caption = page.locator(".dv-grid[data-lane=a] caption")
    expect(caption).to_contain_text(f"Cycle {cycle.index + 1}: anchor")
    expect(caption).to_contain_text(f"at position {cycle.anchor_position}")
    assert page.evaluate("dcoco.lanes.a.run.method") == run.request.method
    expect(page).to_have_url(re.compile(rf"cycle={cycle.index + 1}&|cycle={cycle.index + 1}$"))
    expect(page).to_have_url(re.compile(f"method={run.request.method}"))


def test_the_table_shows_the_metrics(page, two):
    seen = rows(page)
    for run, row in zip(two, seen, strict=True):
        spreads = figures([run], [])
        for name, digits in COLUMNS.items():
            wanted = "–" if spreads[name] is None else f"{spreads[name].median:.{digits}f}"
            assert row["cells"][name] == wanted
        assert [int(text) for text, _ in row["bars"]] == accepted_histogram(run).tolist()
        heights = np.array([height for _, height in row["bars"]])
        assert ((heights > 0) == (accepted_histogram(run) > 0)).all()
        assert heights.argmax() == accepted_histogram(run).argmax()
    for name in ("tau", "tokens_per_second"):
        values = [float(row["cells"][name]) for row in seen]
        assert [name in row["best"] for row in seen] == [value == max(values) for value in values]


def test_every_number_explains_itself(page):
    for name in ("tau", "cycle_ms", "histogram"):
        page.locator(f".dv-table th.{name} .dv-term").focus()
        tip = page.locator(f".dv-table th.{name} .dv-tip")
        expect(tip).to_be_visible()
        box = tip.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 1280


def test_speed_up_is_over_plain_decoding(choose, four):
    page = choose(0, 1, 2)
    entries = [Entry([run]) for run in four[:3]]
    wanted = [row["cells"]["speedup"]["text"] for row in table(entries)["rows"]]
    assert [row["cells"]["speedup"] for row in rows(page)] == wanted and wanted[1] == "1.00"
    expect(page.locator(".dv-table tbody tr").nth(1)).to_contain_text("no drafts")


def test_the_race_shows_what_was_committed_by_then(page, two):
    at = [arrivals(run) for run in two]
    slider = page.locator(".dv-race .scrub")
    box = slider.bounding_box()
    times = set()
    for share in (0.0, 0.13, 0.5, 0.72, 0.9, 0.999):
        slider.click(position={"x": share * box["width"], "y": 5})
        seen = race(page)
        times.add(seen["t"])
        for runner, ms in zip(seen["runners"], at, strict=True):
            assert runner["seen"] == np.flatnonzero(ms <= seen["t"]).tolist()
            assert runner["tally"] == len(runner["seen"])
        gap = len(seen["runners"][1]["seen"]) - len(seen["runners"][0]["seen"])
        if gap and seen["t"] < min(ms[-1] for ms in at):
            ahead = "DFlash is {} ahead of DCOCO." if gap > 0 else "DCOCO is {} ahead of DFlash."
            assert seen["lead"] == ahead.format(f"{abs(gap)} token{'s' * (abs(gap) != 1)}")
    assert len(times) == 6
    (first, second), left = by_time(two), [112 - len(runner["seen"]) for runner in seen["runners"]]
    assert left[first] == 0 < left[second]
    assert f"{NAMES[first]} finished; {NAMES[second]} has {left[second]} token" in seen["lead"]


def test_the_end_of_the_race(page, two):
    page.locator(".dv-race .scrub").press("End")
    last = [arrivals(run)[-1] / 1000 for run in two]
    seen = race(page)
    assert [runner["tally"] for runner in seen["runners"]] == [len(run.token_ids) for run in two]
    first, second = by_time(two)
    assert seen["lead"] == f"{NAMES[first]} finished first, {last[second] - last[first]:.2f} s before {NAMES[second]}."
    assert page.locator(".dv-race .finish").all_inner_texts() == [f"⚑ {s:.2f} s" for s in last]
    flags = page.locator(".dv-race .flag").evaluate_all("all => all.map(f => parseFloat(f.style.left))")
    assert np.allclose(flags, [100 * s / max(last) for s in last], atol=0.1)


def test_the_race_by_keyboard(page):
    slider = page.locator(".dv-race .scrub")
    for key, wanted in (("Home", 0), ("PageUp", 1000), ("ArrowRight", 1100), ("ArrowLeft", 1000), ("PageDown", 0)):
        slider.press(key)
        assert race(page)["t"] == wanted
    page.locator(".dv-race").get_by_label("Speed of the race").select_option("4")
    slider.press(" ")
    page.wait_for_function("+document.querySelector('.dv-race .scrub').getAttribute('aria-valuenow') > 400")
    slider.press(" ")
    stood = race(page)["t"]
    page.evaluate(SETTLE)
    assert race(page)["t"] == stood
    slider.press(" ")
    page.wait_for_function(f"+document.querySelector('.dv-race .scrub').getAttribute('aria-valuenow') > {stood}")


def test_the_race_runs_to_its_end_and_again(page):
    end = race(page)["t"]
    buttons = page.locator(".dv-race")
    buttons.get_by_label("Speed of the race").select_option("4")
    buttons.get_by_role("button", name="|◀ restart").click()
    page.wait_for_function("+document.querySelector('.dv-race .scrub').getAttribute('aria-valuenow') > 100")
    assert race(page)["t"] < end
    page.wait_for_function(f"+document.querySelector('.dv-race .scrub').getAttribute('aria-valuenow') === {end}")
    expect(buttons.get_by_role("button", name="▶ play")).to_be_visible()


def test_reduced_motion_shows_the_end(choose, four):
    page = choose(0, 1, reduced_motion="reduce")
    seen = race(page)
    assert [runner["tally"] for runner in seen["runners"]] == [len(run.token_ids) for run in four[:2]]
    expect(page.locator(".dv-race").get_by_role("button", name="▶ play")).to_be_visible()


def test_a_token_of_the_race_opens_its_cycle(page, two):
    cycle = two[1].cycles[7]
    index = int(np.flatnonzero(located(two[1]) == 7)[0])
    page.locator(".dv-race .runner").nth(1).locator(f".tok[data-i='{index}']").click()
    in_explore(page, two[1], cycle)


def test_equal_texts_show_who_got_what_how(page, two):
    expect(page.locator(".dv-verdict .words")).to_have_text(
        "Both texts are equal token by token (112 tokens): at T = 0 no draft changes the text."
    )
    words = page.locator(".dv-diff .column > .tok").all_inner_texts()
    assert words == [shown(page, two[0].pieces[token]) for token in two[0].token_ids]
    for r, run in enumerate(two):
        cells = page.locator(f".dv-diff .cell[data-run='{r}']")
        assert cells.all_inner_texts() == [LETTERS[origin] for origin in origins(run)]
        where = located(run)
        begins = cells.evaluate_all("all => all.map(c => c.classList.contains('first'))")
        assert begins == [i == 0 or where[i] != where[i - 1] for i in range(len(where))]
        counted = shared(two)
        assert page.locator(f".dv-diff .cell.alone[data-run='{r}']").count() == counted.alone[r]
        assert page.locator(".dv-diff .count b").nth(r).inner_text() == str(counted.alone[r])
    assert page.locator(".dv-diff .count b").all_inner_texts()[2:] == [str(counted.all), str(counted.none)]


def test_a_token_of_the_diff_opens_its_cycle_and_the_way_back(page, two):
    before = page.evaluate("[...document.querySelectorAll('.dv-table tbody tr')].map(row => row.dataset.run)")
    at = int(np.flatnonzero(located(two[1]) == 9)[0])
    page.locator(".dv-diff .cell[data-run='0']").first.focus()
    page.keyboard.press("ArrowDown")
    for _ in range(at):
        page.keyboard.press("ArrowRight")
    focused = page.evaluate("[document.activeElement.dataset.run, document.activeElement.dataset.at].join()")
    assert focused == f"1,{at}"
    page.keyboard.press("Enter")
    in_explore(page, two[1], two[1].cycles[9])
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_function("document.body.dataset.view === 'compare'")
    page.evaluate(SETTLE)
    after = page.evaluate("[...document.querySelectorAll('.dv-table tbody tr')].map(row => row.dataset.run)")
    assert after == before


def test_different_texts_are_marked_where_they_differ(choose, four):
    page, runs = choose(0, 2), [four[0], four[2]]
    assert parting(runs) == PART
    expect(page.locator(".dv-verdict .words")).to_contain_text(
        f"differ from output token {PART + 1} on. At T = 0 in float32"
    )
    marked = page.locator(".dv-diff .cell.other").evaluate_all("all => all.map(c => +c.dataset.at)")
    assert marked == [i for i in range(112) if runs[0].token_ids[i] != runs[1].token_ids[i]]
    for r, run in enumerate(runs):
        cells = page.locator(f".dv-diff .cell[data-run='{r}']").all_inner_texts()
        assert cells == [shown(page, run.pieces[token]) for token in run.token_ids]
    told, found = page.locator(".dv-diff .parts p").first.inner_text(), evidence(runs[0], PART)
    assert shown(page, runs[0].pieces[found.token]) in told
    assert f"{found.logprob:.3f}".replace("-", "−") in told
    assert "no log-probability was recorded" in page.locator(".dv-diff .parts p").nth(1).inner_text()
    assert not page.locator(".dv-diff .counts").is_visible()


def test_rescues_are_the_metrics(choose, four):
    page = choose(3, 0)
    for number in (3, 0):
        found = rescues(four[number])
        part = page.locator(".dv-rescues section").nth((3, 0).index(number))
        for name in TOTALS:
            assert part.locator(f".item.{name} dd").evaluate("dd => dd.firstChild.textContent") == totals(found)[name]
        more = part.get_by_role("button", name="Show all")
        if more.is_visible():
            more.click()
        listed = part.locator("tbody tr").evaluate_all(
            "rows => rows.map(row => [...row.cells].map(td => td.innerText.trim()))"
        )
        assert len(listed) == len(found.changes) > 0
        for row, change in zip(listed, found.changes, strict=True):
            word = {
                token: shown(page, four[number].pieces[token]) for token in (change.argmax, change.chosen, change.truth)
            }
            sign = {1: "▲ +", -1: "▼ −", 0: ""}[np.sign(change.gain)]
            assert row == [
                str(change.cycle + 1),
                f"{sign}{abs(change.gain)}",
                f"{change.top1} → {change.selected}",
                str(change.slot),
                f"{word[change.argmax]} → {word[change.chosen]}",
                word[change.truth],
                ", ".join(map(str, change.rescued)) or "–",
                ", ".join(map(str, change.harmed)) or "–",
            ]
    assert any(change.gain for number in (3, 0) for change in rescues(four[number]).changes)


@pytest.mark.parametrize("how", ["click", "Enter"])
def test_a_rescue_opens_its_cycle(choose, four, how):
    page, change = choose(3, 0), rescues(four[3]).changes[0]
    row = page.locator(".dv-rescues section").first.locator("tbody tr").first
    if how == "click":
        row.locator("td").nth(4).click()
    else:
        row.get_by_role("button").press("Enter")
    in_explore(page, four[3], four[3].cycles[change.cycle])
    wait_for_cycles(page, len(four[3].cycles))


def test_different_prompts_are_not_raced(choose):
    page = choose(0, 3)
    expect(page.locator(".dv-verdict .note").first).to_contain_text("different prompts")
    for view in (".dv-race[data-kind]", ".dv-diff[data-kind]", ".dv-verdict .verdict"):
        assert not page.locator(view).is_visible()
    assert not any(row["best"] for row in rows(page))
    assert page.locator(".dv-rescues section").count() == 2


def test_one_run_alone(choose):
    page = choose(0)
    expect(page.locator(".dv-verdict[data-kind]")).to_contain_text("One run alone: choose it together with")
    assert not page.locator(".dv-race[data-kind]").is_visible() and page.locator(".dv-rescues section").is_visible()
    page.locator(".dv-verdict[data-kind]").get_by_role("button", name="Runs").click()
    page.wait_for_function("document.body.dataset.view === 'runs'")


def test_without_runs_it_says_what_to_do(visit, served):
    page = visit(f"{served}?view=compare&run=unknown")
    expect(page.locator(".dv-verdict .hint")).to_contain_text("choose two to four runs in Runs")
    for view in ("race", "table", "diff", "rescues"):
        assert not page.locator(f".dv-{view}[data-kind]").is_visible()
    assert not page.locator("#dv-compare-setup").is_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(choose, width):
    page = choose(0, 1, 2, viewport={"width": width, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
