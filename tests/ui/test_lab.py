"""Path lab on recorded traces: every number and picture read back and compared with dcoco_viz.lab."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from dcoco_viz.lab.cost import measured
from dcoco_viz.lab.lesson import lesson
from dcoco_viz.lab.parting import partings, picture
from dcoco_viz.lab.replay import deviations, replay
from dcoco_viz.lab.table import best, by_slots, table
from dcoco_viz.metrics.prefix import tau
from dcoco_viz.presets import ROOT
from dcoco_viz.trace import files
from tests.ui import charts
from tests.ui import lab as seen
from tests.ui.conftest import serving
from tests.ui.reading import shown
from tests.unit.factory import make_run
from tests.unit.lab.decoding import decode

TRACE = ROOT / "assets" / "traces" / "train-problem.parquet"
USUAL = ["greedy", "global-sum", "geometric:0.75", "beam:4", "greedy+cut:0.3"]


@pytest.fixture(scope="module")
def runs():
    return files.load(TRACE)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving("--replay", str(TRACE), log=tmp_path_factory.mktemp("app") / "log") as url:
        yield url


@pytest.fixture
def page(visit, address):
    page = visit(f"{address}?view=lab")
    seen.arrived(page)
    return page


def rows_of(found):
    """What a table of these rows has to say, the run's own first."""
    out = []
    for i, row in enumerate(found):
        difference, better, worse, equal = row.paired
        out.append({
            "walk": row.walk,
            "own": i == 0,
            "removable": i > 0,
            "numbers": [
                f"{row.accepted:.3f}",
                f"{difference:+.3f}".replace("-", "−") if i else "",
                f"{row.submitted:.2f}",
                "–" if row.tau is None else f"{row.tau:.3f}",
                "–" if row.tokens_per_second is None else f"{row.tokens_per_second:.1f}",
            ],
            "cycles": f"{better} better · {worse} worse · {equal} equal" if i else "",
            "bars": "cycles by length: " + ", ".join(f"{n} × {i}" for i, n in enumerate(row.histogram) if n),
        })  # fmt: skip
    return out


def computed(run, walks, **settings):
    options = {"pool": None, "slots": None, "dense": None, "cost": measured(run, []), **settings}
    return rows_of(table(run, walks, **options))


def test_the_table_is_the_replay(page, runs):
    assert seen.table(page, USUAL) == computed(runs[0], USUAL)
    notes = page.locator("#dv-lab-table .notes").all_inner_texts()
    assert f"{len(runs[0].cycles)} recorded cycles, exact one by one" in notes[0]
    assert f"τ {tau(runs[0]):.3f}" in notes[0] and "Recorded anchors only" in notes[0]
    cycles = ", ".join(str(d.cycle + 1) for d in deviations(runs[0]))
    assert f"In {len(deviations(runs[0]))} cycles ({cycles})" in notes[1]
    assert f"{measured(runs[0], []).at(15):.1f} ms at 15" in notes[1]
    expect(page.locator("#dv-lab-chart")).to_be_hidden()  # no dense trace: no claim by slots


def test_k_and_slots_cut_down(page, runs):
    page.locator("#dv-lab-controls").get_by_role("spinbutton", name="Candidates K").fill("1")
    wanted = computed(runs[0], USUAL, pool=1)
    assert wanted[1]["cycles"] != computed(runs[0], USUAL)[1]["cycles"]
    expect(page.locator("tr[data-walk=global-sum] .cycles")).to_have_text(wanted[1]["cycles"])
    assert seen.table(page, USUAL) == wanted
    page.locator("#dv-lab-controls").get_by_role("spinbutton", name="Slots B").fill("2")
    expect(page.locator("tr[data-walk=greedy] .replay_submitted")).to_have_text("2.00")
    assert seen.table(page, USUAL) == computed(runs[0], USUAL, pool=1, slots=2)


def test_what_is_typed_for_slots_is_the_nearest_number_there_is(page):
    box, own = page.get_by_label("number input for Slots B"), page.locator("#dv-lab-table tr.own")
    for typed, slots in (("4", "4.00"), ("99", "15.00"), ("-5", "1.00"), ("", "15.00"), ("3.7", "4.00")):
        box.fill(typed)
        box.press("Enter")
        expect(own).to_contain_text(slots)


def test_any_walk_can_be_added_and_taken_out(page, runs):
    seen.add(page, "beam:2+k:8+cut:0.05")
    walks = [*USUAL, "beam:2+cut:0.05+k:8"]  # its canonical name
    assert seen.table(page, walks) == computed(runs[0], walks)
    page.get_by_role("button", name="Take global-sum out of the table").click()
    walks.remove("global-sum")
    assert seen.table(page, walks) == computed(runs[0], walks)


@pytest.mark.parametrize("name", ["viterbi", "beam:0", "", "geometric:2+top:1"])
def test_a_wrong_walk_is_explained(page, name):
    seen.add(page, name)
    alert = page.locator(".dv-banner[role=alert]")
    expect(alert).to_contain_text("Unknown walk")
    assert [row["walk"] for row in seen.table(page, USUAL)] == USUAL
    seen.add(page, "beam:3")
    seen.table(page, [*USUAL, "beam:3"])
    expect(alert).to_have_text("")


def listed(found):
    return [(p.cycle, p.slot, p.accepted) for p in found]


def test_the_list_of_partings(page, runs):
    a, b = replay(runs[0], ["greedy", "global-sum"])
    wanted = partings(a, b)
    got = seen.partings(page, "greedy", "global-sum")
    assert [(p["cycle"], p["slot"], tuple(p["accepted"])) for p in got] == listed(wanted)
    assert got[0]["selected"] and got[0]["text"][:2] == [f"cycle {wanted[0].cycle + 1}", f"slot {wanted[0].slot + 1}"]
    page.locator("#dv-lab-parting").get_by_label("Walk A").select_option("greedy+cut:0.3")
    page.locator("#dv-lab-parting").get_by_label("Walk B").select_option("beam:4")
    a, b = replay(runs[0], ["greedy+cut:0.3", "beam:4"])
    got = seen.partings(page, "greedy+cut:0.3", "beam:4")
    assert [(p["cycle"], p["slot"], tuple(p["accepted"])) for p in got] == listed(partings(a, b))


@pytest.mark.parametrize("b", ["global-sum", "greedy+cut:0.3"])
def test_the_picture_is_the_cycle(page, runs, b):
    page.locator("#dv-lab-parting").get_by_label("Walk B").select_option(b)
    seen.partings(page, "greedy", b)
    replays = replay(runs[0], ["greedy", b])
    found = partings(*replays)
    for step in range(3):  # with the keys, as a list box is used
        if step == 0:
            page.locator("#dv-lab-parting [role=option]").first.click()
        else:
            page.keyboard.press("ArrowDown")
        wanted = picture(runs[0], found[step].cycle, *replays)
        same(page, runs[0], seen.picture(page, found[step].cycle), wanted)


def fixed(value, digits):
    return f"{value:.{digits}f}".replace("-", "−")


def same(page, run, got, wanted):
    def text(token):
        return shown(page, run.pieces[token])

    nodes = {(slot, n.rank): n for slot, column in enumerate(wanted.nodes) for n in column}
    assert {(n["slot"], n["rank"]) for n in got["nodes"]} == set(nodes)
    for n in got["nodes"]:
        node = nodes[n["slot"], n["rank"]]
        marks = [name for name, on in (("a", node.on[0]), ("b", node.on[1]), ("true", node.true)) if on]
        assert n["marks"] == marks and n["token"] == text(node.token)
    lefts = sorted({n["left"] for n in got["nodes"]})
    for name, which, path in (("A", "a", wanted.paths[0]), ("B", "b", wanted.paths[1])):
        assert sum(left < got["rules"][which] for left in lefts) == path.accepted
        assert got["rows"][f"{name} token"] == [text(token) for token in path.tokens]
        assert got["rows"][f"{name} step S"] == ["start", *(fixed(s, 2) for s in path.steps)]
        assert got["rows"][f"{name} sum of S"] == [fixed(s, 2) for s in path.sums]
        assert f"{path.accepted} of {path.submitted}" in got["words"] and fixed(path.sums[-1], 2) in got["words"]
        assert f"{name} {path.walk} " in got["words"]
    assert got["rows"]["text"] == [text(token) if token >= 0 else "–" for token in wanted.truth]
    verdicts = [
        "✓" if slot < p.accepted else "–" if slot >= p.submitted else "✗" if slot == p.accepted else "·"
        for p in wanted.paths
        for slot in range(len(p.ranks))
    ]
    assert got["marks"] == verdicts
    steps = [fixed(s, 1) for s in wanted.paths[0].steps]
    ours, theirs = (p.ranks for p in wanted.paths)
    pairs = zip(ours, ours[1:], theirs, theirs[1:], wanted.paths[1].steps, strict=False)
    steps += [fixed(s, 1) for a, b, c, d, s in pairs if (a, b) != (c, d)]
    assert got["scores"] == steps


def test_a_parting_leads_to_its_cycle_in_explore(page, runs):
    cycle = seen.partings(page, "greedy", "global-sum")[0]["cycle"]
    seen.picture(page, cycle)
    page.get_by_role("button", name="Open this cycle in Explore").click()
    page.wait_for_function(f"document.body.dataset.view === 'explore' && dcoco.lanes.a.selected === {cycle}")


def test_the_page_of_text_tells_of_this_trace(page, runs):
    found = lesson(runs[0])
    text = page.locator("#dv-lab-page").inner_text()
    assert f"greedy accepted {found.greedy.mean:.3f} tokens a cycle and global-sum {found.total.mean:.3f}" in text
    _, better, worse, equal = found.paired
    assert f"less far in {worse}, further in {better}, equally far in {equal}" in text
    case, slot = page.locator("#dv-lab-page .case"), found.lost.parts
    greedy, total = found.lost.paths
    words = case.first.inner_text()
    assert f"cycle {found.lost.cycle + 1}, slot {slot + 1}" in words
    assert f"{total.sums[-1]:.2f} against greedy's {greedy.sums[-1]:.2f}" in words
    assert f"S = {greedy.steps[slot - 1]:.3f}" in words and f"S = {total.steps[slot - 1]:.3f}" in words
    tokens = [greedy.tokens[slot - 1], greedy.tokens[slot], total.tokens[slot], found.lost.truth[slot]]
    assert case.first.locator(".tok").all_inner_texts() == [shown(page, runs[0].pieces[t]) for t in tokens]
    assert case.count() == (found.lost is not None) + (found.won is not None)
    assert "5.258" in text and "5.254" in text and "paper" in text
    case.first.get_by_role("button").click()
    page.wait_for_function(f"document.body.dataset.view === 'explore' && dcoco.lanes.a.selected === {found.lost.cycle}")


def test_a_run_without_a_head(page, runs):
    page.get_by_label("Run", exact=True).click()
    page.get_by_role("option", name="DFlash").click()
    expect(page.locator("#dv-lab-page")).to_contain_text("has no head")
    assert seen.table(page, USUAL) == computed(runs[1], USUAL)
    expect(page.locator("#dv-lab-parting .tools [role=status]")).to_contain_text("submit the same tokens")
    expect(page.locator("#dv-lab-parting .columns")).to_be_hidden()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_finding_on_what_is_drawn(visit, address, width, theme):
    page = visit(f"{address}?view=lab", viewport={"width": width, "height": 900}, color_scheme=theme)
    seen.arrived(page)
    found = Axe().run(page, context="#dv-panel-lab").response["violations"]
    serious = [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
    assert not serious
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


SHAPE = {"length": 40, "slots": 7, "pool": 4}
HOSTILE = '<img src=x onerror="window.hacked=1">'


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    """The app showing four runs of one text, with other numbers of slots, and its dense trace among the runs."""
    folder = tmp_path_factory.mktemp("dense")
    runs = [*(decode(11, **SHAPE, limit=n) for n in (5, 1, 3, 7)), decode(11, **SHAPE, dense=True)]
    for number, run in enumerate(runs):
        run.id, run.pieces[0] = str(number), HOSTILE
    files.save(folder / "runs.parquet", runs)
    with serving("--replay", str(folder / "runs.parquet"), log=folder / "log") as url:
        yield url, runs


def test_with_a_dense_trace_tau_and_speed_are_those_of_the_run(visit, dense):
    page, (run, *others) = visit(f"{dense[0]}?view=lab"), dense[1]
    seen.arrived(page)
    cost = measured(run, others)
    wanted = computed(run, USUAL, dense=others[-1], cost=cost)
    assert seen.table(page, USUAL) == wanted
    assert wanted[0]["numbers"][3] == f"{tau(run):.3f}"  # the run's own walk: what it really did
    choices = by_slots(others[-1], "greedy", cost)
    tables = charts.numbers(page, "dv-lab-chart")
    assert [row[1] for row in tables[0]["rows"]] == [f"{choice.tau:.3f}" for choice in choices]
    assert [row[1] for row in tables[1]["rows"]] == [f"{choice.tokens_per_second:.1f}" for choice in choices]
    top = best(choices)
    sentence = f"Best number of slots for greedy: {top.slots}, with τ {top.tau:.3f} and "
    expect(page.locator("#dv-lab-chart .note")).to_contain_text(f"{sentence}{top.tokens_per_second:.1f} tok/s")
    marks = [trace for panel in charts.drawn(page, "dv-lab-chart", 2) for trace in panel["data"] if "text" in trace]
    assert [mark["x"] for mark in marks] == [[top.slots]] * 2


def test_hostile_tokens_are_text(visit, dense):
    page = visit(f"{dense[0]}?view=lab")
    seen.arrived(page)
    assert page.locator("#dv-lab-parting, #dv-lab-page").get_by_text("<img").count()
    assert page.locator("#dv-panel-lab img[src=x]").count() == 0 and page.evaluate("window.hacked") is None


def test_at_a_temperature_it_is_agreement(visit, tmp_path):
    run = decode(3, **SHAPE)
    run.request.temperature = 0.7
    files.save(tmp_path / "hot.parquet", [run])
    with serving("--replay", str(tmp_path / "hot.parquet"), log=tmp_path / "log") as url:
        page = visit(f"{url}?view=lab")
        seen.arrived(page)
        expect(page.locator("#dv-lab-table .notes").first).to_contain_text("agreement with the text that was sampled")
        expect(page.locator("#dv-lab-table thead th").nth(1)).to_contain_text("agreement")
        assert seen.table(page, USUAL) == computed(run, USUAL)


def test_without_a_run_it_says_what_to_do(visit, tmp_path):
    files.save(tmp_path / "plain.parquet", [make_run(method="none")])
    with serving("--replay", str(tmp_path / "plain.parquet"), log=tmp_path / "log") as url:
        page = visit(f"{url}?view=lab")
        expect(page.locator("#dv-lab-table .empty")).to_contain_text("Decode a prompt with a drafting method")
        expect(page.locator("#dv-lab-parting")).to_be_hidden()
