"""The list of runs: what it shows, what it does, and who may."""

import copy
import csv
import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from dcoco_viz.metrics.summary import summary
from dcoco_viz.trace import files
from dcoco_viz.trace.schema import Parent
from tests.ui.reading import until

BAD = '<img src=x onerror="window.hacked=1">'
NUMBERS = {"tau": 2, "tokens_per_second": 1, "cycles": 0, "output_tokens": 0, "seconds": 2}


@pytest.fixture(scope="module")
def mine(recorded, tmp_path_factory):
    """Three runs in a file: named, a branch, and one with a hostile prompt and name."""
    named, branch, hostile = (copy.deepcopy(recorded[1][i]) for i in (0, 1, 0))
    named.name, named.created = "Alpha", "2026-01-03T10:00:00+00:00"
    branch.request.parent, branch.request.walk = Parent(run="gone", cycle=4, slot=2, rank=1), "beam:4"
    branch.created = "2026-01-02T10:00:00+00:00"
    hostile.name, hostile.request.prompt = BAD, BAD + "\n" + "zebra " * 200
    hostile.created = "2026-01-01T10:00:00+00:00"
    path = tmp_path_factory.mktemp("runs") / "mine.parquet"
    files.save(path, [named, branch, hostile])
    return path, [named, branch, hostile]


@pytest.fixture
def runs(visit, replay):
    """Opens the list as a new visitor."""

    def open_list(**options):
        page = visit(replay, **options)
        page.wait_for_url("**/?run=*")  # the server has answered the address
        page.get_by_role("tab", name="Runs").click()
        expect(page.locator(ROWS)).to_have_count(2)
        return page

    return open_list


@pytest.fixture
def page(runs, mine):
    page = runs()
    offer(page, mine[0], 5)
    return page


def offer(page, path, rows):
    page.locator("#dv-runs-files input[type=file]").set_input_files(str(path))
    expect(page.locator(ROWS)).to_have_count(rows)


ROWS = ".dv-runs tbody tr[data-run]"
ALERT = ".dv-banner[role=alert]"


def ids(page):
    return page.locator(ROWS).evaluate_all("rows => rows.map(row => row.dataset.run)")


def row(page, name):
    return page.locator(ROWS).filter(has=page.locator("th.title", has_text=name))


def names(page):
    return page.locator(f"{ROWS} th.title .words").all_inner_texts()


def press(page, name):
    page.locator(".dv-runs .bar").get_by_role("button", name=name, exact=True).click()


def select(page, *which):
    for name in which:
        row(page, name).get_by_role("checkbox").check()


def test_the_numbers_are_the_metrics(page, mine, recorded):
    shown = [*recorded[1][::-1], *mine[1]]  # the newest first
    for at, run in enumerate(sorted(shown, key=lambda run: run.created, reverse=True)):
        line, known = page.locator(ROWS).nth(at), summary(run)
        for name, digits in NUMBERS.items():
            seen = line.locator(f"td.{name}").inner_text().removesuffix(" s")
            assert seen == f"{getattr(known, name):.{digits}f}"
        assert line.locator("td.walk").inner_text() == run.request.walk
        expect(line.locator("td.method")).to_contain_text({"dcoco": "DCOCO", "dflash": "DFlash"}[run.request.method])


def test_samples_and_branches_are_marked_and_samples_stay(page, recorded):
    samples = page.locator(ROWS).filter(has_text="sample trace")
    expect(samples).to_have_count(len(recorded[1]))
    expect(samples.get_by_role("button", name="Rename")).to_have_count(0)
    expect(page.locator(f"{ROWS} .parent")).to_have_text("branch of a run that is not on your list")
    samples.first.get_by_role("checkbox").check()
    expect(page.locator(".dv-runs .bar").get_by_role("button", name="Delete")).to_be_disabled()


def test_search_and_the_way_back(page):
    search = page.get_by_label("Search runs")
    for words, count in (("alpha", 1), ("ZEBRA img", 1), ("beam:4", 1), ("dcoco", 3), ("fibonacci dflash", 2)):
        search.fill(words)
        expect(page.locator(ROWS)).to_have_count(count)
    search.fill("no such thing")
    expect(page.locator(".dv-runs .empty")).to_contain_text("No run has “no such thing”")
    page.get_by_role("button", name="Show all runs").click()
    expect(page.locator(ROWS)).to_have_count(5)


def test_sorting(page):
    for label, name in (("τ", "tau"), ("tok/s", "tokens_per_second"), ("decode time", "seconds")):

        def read(name=name):
            return [float(text.split()[0]) for text in page.locator(f"{ROWS} td.{name}").all_inner_texts()]

        button = page.get_by_role("button", name=f"Sort by {label}", exact=True)
        button.click()
        assert read() == sorted(read(), reverse=True)
        expect(page.locator(".dv-runs th[aria-sort=descending]")).to_have_count(1)
        button.click()
        assert read() == sorted(read())
    page.get_by_role("button", name="Sort by Name", exact=True).click()
    assert names(page) == sorted(names(page), key=str.lower)


def test_a_run_is_renamed_in_place(page):
    def rename(old, new, key):
        row(page, old).get_by_role("button", name="Rename").click()
        page.locator(".dv-runs .edit").fill(new)
        page.locator(".dv-runs .edit").press(key)

    rename("Alpha", "  Beta   gamma ", "Enter")
    expect(row(page, "Beta gamma")).to_have_count(1)
    expect(page.locator(".dv-runs .edit")).to_have_count(0)
    rename("Beta gamma", "Delta", "Escape")
    page.get_by_role("tab", name="Coverage").click()
    page.get_by_role("tab", name="Runs").click()
    assert "Beta gamma" in names(page) and "Delta" not in names(page)
    rename("Beta gamma", "", "Enter")
    expect(page.locator(f"{ROWS} .words.plain")).to_have_count(4)
    assert len(names(page)) == 5 and "Beta gamma" not in names(page)


def test_a_list_that_changes_while_a_name_is_typed_waits_for_it(page, mine, tmp_path):
    files.save(tmp_path / "again.parquet", mine[1])
    row(page, "Alpha").get_by_role("button", name="Rename").click()
    page.locator(".dv-runs .edit").fill("half a na")
    page.locator("#dv-runs-files input[type=file]").set_input_files(tmp_path / "again.parquet")
    expect(page.locator(".dv-banner", has_text="again.parquet: 3 runs added")).not_to_have_count(0)
    expect(page.locator(".dv-runs .edit")).to_have_value("half a na")
    page.locator(".dv-runs .edit").press("Escape")
    expect(page.locator(ROWS)).to_have_count(8)
    assert "half a na" not in names(page)


def test_deleting_and_taking_back(page, replay):
    before = ids(page)
    gone = row(page, "Alpha").get_attribute("data-run")
    select(page, "Alpha")
    press(page, "Delete")
    expect(page.locator(ROWS)).to_have_count(4)
    assert page.request.get(f"{replay}run/{gone}.json").status == 404
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(ROWS)).to_have_count(5)
    assert ids(page) == before
    page.get_by_label("Select all runs shown").check()
    press(page, "Delete")  # the samples stay
    expect(page.locator(ROWS)).to_have_count(2)


def test_a_run_opens_in_explore(page, mine):
    run = row(page, "Alpha").get_attribute("data-run")
    row(page, "Alpha").get_by_role("button", name="Open").click()
    page.wait_for_url(re.compile(rf"run={run}&.*view=explore|view=explore.*run={run}"))
    until(page, f"dcoco.lanes.a.cycles.length === {len(mine[1][0].cycles)}")
    assert page.evaluate("[dcoco.lanes.a.run.id, dcoco.lanes.b.run]") == [run, None]


def test_a_selection_is_compared(page):
    bar = page.locator(".dv-runs .bar")
    expect(bar.get_by_role("button", name="Compare")).to_be_disabled()
    select(page, "Alpha")
    expect(bar.get_by_role("button", name="Compare")).to_be_disabled()
    select(page, BAD)
    chosen = [row(page, name).get_attribute("data-run") for name in ("Alpha", BAD)]
    press(page, "Compare")
    page.wait_for_url(lambda url: "view=compare" in url and f"run={','.join(chosen)}" in url)


def test_more_than_four_are_not_compared_and_more_than_two_not_opened(page):
    bar = page.locator(".dv-runs .bar")
    page.get_by_label("Select all runs shown").check()
    for name, can in (("Open in Explore", False), ("Compare", False), ("Report", False), ("Delete", True)):
        assert bar.get_by_role("button", name=name, exact=True).is_enabled() == can
    page.locator(f"{ROWS} input[type=checkbox]").first.uncheck()
    for name, can in (("Open in Explore", False), ("Compare", True), ("Report", True), ("JSON", False)):
        assert bar.get_by_role("button", name=name, exact=True).is_enabled() == can


def saved(page, act):
    with page.expect_download() as download:
        act()
    return download.value


def test_every_download_holds_the_run(page, mine):
    run = mine[1][0]
    page.get_by_role("button", name="Details of Alpha").click()
    line = page.locator(".dv-runs .details .files")

    def get(words):
        return saved(page, lambda: line.get_by_role("link", name=words).click())

    found = get("Parquet")
    assert found.suggested_filename == "Alpha.parquet"
    assert [r.token_ids for r in files.load(found.path())] == [run.token_ids]
    data = json.loads(get("JSON").path().read_text())["run"]
    assert data["token_ids"] == run.token_ids and data["name"] == "Alpha"
    assert data["cycles"][3]["scores"] == run.cycles[3].scores.tolist()
    with get("CSV").path().open(encoding="utf-8-sig", newline="") as file:
        assert [int(line["accepted"]) for line in csv.DictReader(file)] == [c.accepted for c in run.cycles]
    report = get("HTML report")
    assert report.suggested_filename == "Alpha.html" and b"Content-Security-Policy" in report.path().read_bytes()


def test_a_selection_is_one_file(page, mine):
    select(page, "Alpha", BAD)
    found = files.load(saved(page, lambda: press(page, "Parquet")).path())
    assert [run.name for run in found] == ["Alpha", BAD]
    report = saved(page, lambda: press(page, "Report")).path().read_text()
    assert "records-b" in report and "records-c" not in report


def test_a_bad_file_is_explained_and_the_list_stays(page, mine, tmp_path):
    (tmp_path / "cut.parquet").write_bytes(mine[0].read_bytes()[:5000])
    before = ids(page)
    page.locator("#dv-runs-files input[type=file]").set_input_files(str(tmp_path / "cut.parquet"))
    expect(page.locator(ALERT)).to_contain_text("cut.parquet cannot be read as a trace")
    assert ids(page) == before


def test_hostile_text_stays_text(page):
    page.get_by_role("button", name=f"Details of {BAD}").click()
    expect(page.locator(".dv-runs p.full")).to_contain_text(BAD)
    assert page.locator(".dv-runs img").count() == 0 and page.evaluate("window.hacked") is None


def test_the_keyboard_reaches_everything(page):
    page.locator(f"{ROWS} input[type=checkbox]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator(f"{ROWS} input[type=checkbox]").nth(1)).to_be_checked()
    page.get_by_role("button", name="Details of").nth(0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".dv-runs .details")).to_have_count(1)
    expect(page.get_by_role("button", name="Details of").nth(1)).to_be_focused()
    expect(page.get_by_role("button", name="Details of").nth(1)).to_have_attribute("aria-expanded", "true")


def test_two_visitors_do_not_see_each_other(page, runs, recorded, tmp_path):
    theirs = copy.deepcopy(recorded[1][1])
    theirs.name = "Theirs"
    files.save(tmp_path / "theirs.parquet", [theirs])
    other = runs()
    offer(other, tmp_path / "theirs.parquet", 3)
    assert "Theirs" not in names(page) and not {"Alpha", BAD} & set(names(other))
    page.reload()
    expect(page.locator(ROWS)).to_have_count(5)
    assert set(ids(page)) & set(ids(other)) == set(page.locator(ROWS).filter(has_text="sample trace").evaluate_all(
        "rows => rows.map(row => row.dataset.run)"))  # fmt: skip


def test_a_forged_event_changes_nothing(page, runs, mine):
    """Another visitor's browser names this visitor's run, and a sample, in its own events."""
    mallory = runs()
    offer(mallory, mine[0], 5)
    victims = [row(page, "Alpha").get_attribute("data-run"), ids(page)[0]]
    assert row(page, "Alpha").get_attribute("data-run") != row(mallory, "Alpha").get_attribute("data-run")
    own, forged, victim = row(mallory, "Alpha").get_attribute("data-run"), [], [""]

    def forge(route):
        body = route.request.post_data or ""
        forged.append(own in body)
        route.continue_(post_data=body.replace(own, victim[0]))

    mallory.route("**/queue/join*", forge)
    for victim[0] in victims:
        row(mallory, "Alpha").get_by_role("button", name="Rename").click()
        mallory.locator(".dv-runs .edit").fill("Stolen")
        mallory.locator(".dv-runs .edit").press("Enter")
        expect(mallory.locator(ALERT)).to_contain_text("cannot be changed")
        select(mallory, "Alpha")
        press(mallory, "Delete")
        expect(mallory.locator(f"{ROWS} input:checked")).to_have_count(0)
        expect(mallory.locator(ROWS)).to_have_count(5)
    assert forged == [True] * 4
    page.reload()
    expect(page.locator(ROWS)).to_have_count(5)
    assert "Alpha" in names(page) and "Stolen" not in names(page)


def test_a_phone_scrolls_the_table_and_not_the_page(runs, mine):
    page = runs(viewport={"width": 390, "height": 800})
    offer(page, mine[0], 5)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    inside = page.locator(".dv-runs .scroller")
    assert inside.evaluate("box => box.scrollWidth > box.clientWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_has_no_serious_finding_with_everything_open(runs, mine, theme):
    page = runs(color_scheme=theme)
    offer(page, mine[0], 5)
    page.get_by_role("button", name=f"Details of {BAD}").click()
    select(page, BAD)
    row(page, "Alpha").get_by_role("button", name="Rename").click()
    found = Axe().run(page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
