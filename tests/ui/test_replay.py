"""On a recorded trace: what the pictures show, read back and compared with the trace."""

import numpy as np
import pytest
from playwright.sync_api import expect

from dcoco_viz.components.readout import figures
from dcoco_viz.metrics.prefix import truth
from tests.ui.reading import GRID, go, grid, heatmap, numbers, shown, wait_for_lanes


@pytest.fixture(scope="module")
def lanes(recorded):
    return dict(zip("ab", recorded[1], strict=True))


@pytest.fixture
def page(visit, replay, lanes):
    page = visit(replay)
    wait_for_lanes(page, lanes)
    return page


def some(run):
    """The first and last drafted cycles, and the ones that accepted most and least."""
    drafts = [c for c in run.cycles if c.candidates is not None]
    most = max(drafts, key=lambda c: c.accepted)
    return {c.index: c for c in (drafts[0], drafts[-1], most, min(drafts, key=lambda c: c.accepted))}.values()


@pytest.mark.parametrize("lane", ["a", "b"])
def test_the_grid_shows_the_cycle(page, lanes, lane):
    run = lanes[lane]
    for cycle in some(run):
        go(page, cycle.index, lane)
        seen = grid(page, lane)
        slots, ranks = cycle.candidates.shape
        assert len(seen["cells"]) == slots * ranks
        chosen = {(c["slot"], c["rank"]) for c in seen["cells"] if "chosen" in c["marks"]}
        assert chosen == set(enumerate(cycle.ranks.tolist()))
        argmax = {c["slot"] for c in seen["cells"] if "argmax" in c["marks"]}
        assert argmax == set(np.flatnonzero(cycle.ranks != 0))
        late = {c["slot"] for c in seen["cells"] if "dim" in c["marks"]}
        assert late == {j for j in range(slots) if j > cycle.accepted or j >= cycle.submitted}
        unsent = {c["slot"] for c in seen["cells"] if "unsent" in c["marks"]}
        assert unsent == set(range(cycle.submitted, slots))
        assert f"{cycle.accepted} of {cycle.submitted} accepted" in seen["caption"]
        assert seen["heads"].count("✓") == cycle.accepted
        p = np.exp(cycle.logits - cycle.lognorm[:, None])
        for cell in seen["cells"]:
            token = int(cycle.candidates[cell["slot"], cell["rank"]])
            assert cell["token"] == shown(page, run.pieces[token])
            value = p[cell["slot"], cell["rank"]]
            assert cell["p"] == "<.001" or abs(float(cell["p"]) - value) < 6e-4
            assert (cell["p"] == "<.001") <= (value < 5.1e-4)


@pytest.mark.parametrize("lane", ["a", "b"])
def test_the_heavy_rule_stands_at_the_acceptance_point(page, lanes, lane):
    for cycle in some(lanes[lane]):
        go(page, cycle.index, lane)
        seen = page.evaluate(GRID, lane)
        assert sum(left < seen["rule"] for left in seen["lefts"]) == cycle.accepted


@pytest.mark.parametrize("lane", ["a", "b"])
def test_the_verifiers_token_is_ringed_or_named(page, lanes, lane):
    run = lanes[lane]
    for cycle in some(run):
        go(page, cycle.index, lane)
        seen, later = grid(page, lane), truth(run, cycle)
        for j in range(len(cycle.ranks)):
            sure = j <= cycle.accepted and j < len(cycle.verifier)
            token = int(cycle.verifier[j]) if sure else int(later[j])
            rings = [c for c in seen["cells"] if c["slot"] == j and "ring" in c["marks"]]
            if token < 0:
                assert not rings and seen["feet"][j]["where"] == "text ends"
                continue
            held = np.flatnonzero(cycle.candidates[j] == token).tolist()
            assert [c["rank"] for c in rings] == held
            assert all(("later" in c["marks"]) != sure for c in rings)
            assert seen["feet"][j]["token"] == shown(page, run.pieces[token])
            assert (seen["feet"][j]["where"] == "not in pool") == (not held)


def test_colours_follow_probability(page, lanes):
    cycle = next(iter(some(lanes["a"])))
    go(page, cycle.index)
    p = cycle.logits[0] - cycle.lognorm[0]
    fills = [c["fill"] for c in grid(page)["cells"] if c["slot"] == 0]
    steps = page.evaluate("dcoco.palette.scales.light.probability.map(([fill]) => fill)")
    rgb = [tuple(int(part) for part in fill[4:-1].split(",")) for fill in fills]
    index = [steps.index("#" + "".join(f"{part:02x}" for part in c)) for c in rgb]
    assert index == sorted(index, reverse=True)
    assert index[0] == round(63 * (1 - min(1, max(0, p[0] / np.log(0.001)))))


def test_the_heatmap_shows_the_scores(page, lanes):
    lane, run = next((lane, run) for lane, run in lanes.items() if run.cycles[-1].scores is not None)
    view = page.locator(f".dv-transitions[data-lane={lane}]")
    for cycle in some(run):
        go(page, cycle.index, lane)
        for pair in (0, 5, 13):
            view.get_by_label("Slot pair", exact=True).select_option(str(pair))
            page.wait_for_function(f"dcoco.lanes.{lane}.scoresOf({cycle.index}, {pair})")
            scores, base = cycle.scores[pair].astype(np.float64), cycle.logits[pair + 1].astype(np.float64)
            delta = scores - base
            for mode, wanted in (
                ("S", scores),
                ("base", np.tile(base, (16, 1))),
                ("Δ", delta - delta.mean(1, keepdims=True)),
            ):
                view.get_by_role("button", name=mode, exact=True).click()
                page.wait_for_timeout(50)
                seen = heatmap(page, lane)
                assert np.abs(numbers(seen) - wanted).max() <= 0.0501
            assert seen["walked"] == [[cycle.ranks[pair], cycle.ranks[pair + 1]]]
            assert seen["rows"] == [shown(page, run.pieces[int(t)]) for t in cycle.candidates[pair]]
            assert seen["columns"] == [shown(page, run.pieces[int(t)]) for t in cycle.candidates[pair + 1]]


def test_without_a_head_the_heatmap_says_why(page, lanes):
    lane = next(lane for lane, run in lanes.items() if run.request.method == "dflash")
    assert "no head" in page.locator(f".dv-transitions[data-lane={lane}] .note").inner_text()


@pytest.mark.parametrize("lane", ["a", "b"])
def test_the_figures_are_the_metrics(page, lanes, lane):
    for name, text in figures(lanes[lane]).items():
        seen = page.locator(f".dv-readout[data-lane={lane}] .item-{name} .number").inner_text()
        assert seen == (text or "–")


@pytest.mark.parametrize("lane", ["a", "b"])
def test_the_strip_shows_every_accepted_length(page, lanes, lane):
    bars = page.locator(f".dv-scrubber[data-lane={lane}] .bars i")
    seen = bars.evaluate_all("bars => bars.map(bar => +bar.dataset.accepted)")
    assert seen == [cycle.accepted for cycle in lanes[lane].cycles]


def number(text: str) -> float:
    return float(text.replace("−", "-").strip("()= "))


def test_a_cell_is_described_in_full(page, lanes):
    lane, run = next((lane, run) for lane, run in lanes.items() if run.cycles[-1].scores is not None)
    view, heights = page.locator(f".dv-grid[data-lane={lane}]"), set()
    for cycle in some(run):
        go(page, cycle.index, lane)
        chosen = [(slot, int(cycle.ranks[slot])) for slot in (0, 1, 5)]
        for slot, rank in [*chosen, (3, 2), (14, 15)]:
            view.locator(f"td[data-slot='{slot}'][data-rank='{rank}']").focus()
            token, base = int(cycle.candidates[slot, rank]), float(cycle.logits[slot, rank])
            what = view.locator(".detail .what").inner_text()
            assert shown(page, run.pieces[token]) in what
            assert f"slot {slot + 1}, rank {rank + 1}, id {token}" in what
            assert ("chosen" in what) == (rank == cycle.ranks[slot])
            read = {
                name: view.locator(f".detail .item-{name} dd").inner_text()
                for name in ("probability", "verifier_logprob", "after", "score", "base", "delta")
            }
            p = np.exp(base - float(cycle.lognorm[slot]))
            assert number(read["probability"]) == pytest.approx(p, rel=6e-3)
            assert number(read["base"]) == pytest.approx(base, abs=0.0051)
            if slot == 0:
                assert read["score"] == read["delta"] == "–"
                assert read["after"] == shown(page, run.pieces[cycle.anchor])
            else:
                before = int(cycle.ranks[slot - 1])
                score = float(cycle.scores[slot - 1, before, rank])
                assert read["after"] == shown(page, run.pieces[int(cycle.candidates[slot - 1, before])])
                assert number(read["score"]) == pytest.approx(score, abs=0.0051)
                assert number(read["delta"]) == pytest.approx(score - base, abs=0.0051)
            if slot < cycle.submitted and token == cycle.drafted[slot]:
                assert number(read["verifier_logprob"]) == pytest.approx(cycle.drafted_logprob[slot], abs=0.0051)
                assert read["verifier_logprob"].startswith("(") == (slot > cycle.accepted)
            else:
                assert read["verifier_logprob"] == "–"
            heights.add(view.locator(".detail").bounding_box()["height"])
    assert len(heights) == 1  # nothing below it jumps


def test_the_heatmap_names_the_walk_and_what_it_took(page, lanes):
    lane, run = next((lane, run) for lane, run in lanes.items() if run.cycles[-1].scores is not None)
    words = page.locator(f".dv-transitions[data-lane={lane}] caption")
    for cycle in some(run):
        go(page, cycle.index, lane)
        page.wait_for_function(f"dcoco.lanes.{lane}.scoresOf({cycle.index}, dcoco.lanes.{lane}.pair)")
        expect(words).to_contain_text("the greedy walk took the marked step, the best of the marked row by S")
    page.evaluate(
        """name => {
          const lane = dcoco.lanes[name], n = lane.cycle.shape[1], row = lane.cycle.ranks[lane.pair];
          const scores = lane.scoresOf(lane.selected, lane.pair).slice(row * n, (row + 1) * n);
          lane.run.walk = "beam:4"; // takes the worst step here, as a walk may that looks ahead
          lane.cycle.ranks[lane.pair + 1] = scores.indexOf(Math.min(...scores));
        }""",
        lane,
    )
    page.locator(f".dv-transitions[data-lane={lane}]").get_by_label("Slot pair", exact=True).select_option("1")
    page.wait_for_function(f"dcoco.lanes.{lane}.scoresOf(dcoco.lanes.{lane}.selected, 1)")
    page.locator(f".dv-transitions[data-lane={lane}]").get_by_label("Slot pair", exact=True).select_option("0")
    expect(words).to_contain_text("the beam:4 walk took the marked step, number 16 of the marked row by S")
