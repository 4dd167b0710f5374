"""While cycles fly past they are drawn on a canvas, which shows what the tables show at rest; and 1,000 of them."""

import io

import numpy as np
import pytest
from PIL import Image

from dcoco_viz.trace import files
from tests.ui.conftest import serving
from tests.ui.reading import SETTLE, grid, heatmap, numbers, shown, wait_for_cycles
from tests.ui.tiling import tiled

# Notes what is drawn: texts where they stand and the last fill that was laid under them, in the scroller's pixels.
WATCH = """() => {
  const {fillText, fillRect} = CanvasRenderingContext2D.prototype;
  const logs = new WeakMap(), log = (c) => logs.get(c.canvas) ?? logs.set(c.canvas, []).get(c.canvas);
  window.drawnOn = (canvas) => logs.get(canvas) ?? [];
  const place = (c, x, y) => {
    const at = c.getTransform().transformPoint(new DOMPoint(x, y)), dense = devicePixelRatio;
    return [at.x / dense + parseFloat(c.canvas.style.left), at.y / dense + parseFloat(c.canvas.style.top)];
  };
  Object.assign(CanvasRenderingContext2D.prototype, {
    fillText(text, x, y) {
      log(this).push({text, at: place(this, x, y)});
      fillText.apply(this, arguments);
    },
    fillRect(x, y, w, h) {
      const whole = w > 500;
      if (whole) log(this).length = 0; // a new picture
      else log(this).push({fill: this.fillStyle, at: place(this, x, y), w, h});
      fillRect.apply(this, arguments);
    },
  });
}"""
# Stays in motion: what waits for the lane to rest is called only by THAW.
FREEZE = """async (index) => {
  const raf = requestAnimationFrame.bind(window), frame = () => new Promise(raf), lane = dcoco.lanes.a;
  window.waiting = [];
  window.requestAnimationFrame = (f) => (String(f).includes("still") ? waiting.push(f) : raf(f));
  lane.scrub(index + 1); await frame(); await frame();
  lane.scrub(index); await frame(); await frame();
  window.requestAnimationFrame = raf;
}"""
THAW = "waiting.forEach((f) => requestAnimationFrame(f))"
INSIDE = """selector => {
  const root = document.querySelector(selector), canvas = root.querySelector("canvas.sheet");
  const origin = canvas.parentElement.getBoundingClientRect();
  if (canvas.style.visibility !== "visible") throw new Error("the sheet is not shown");
  const drawn = drawnOn(canvas), scrolled = canvas.parentElement.scrollLeft;
  return [...root.querySelectorAll("tbody td:not(.anchor)")].map((td) => {
    const box = td.getBoundingClientRect(), left = box.left - origin.left + scrolled, top = box.top - origin.top;
    const within = (x, start, length) => x > start - 0.5 && x < start + length + 0.5;
    const here = drawn.filter(({at: [x, y]}) => within(x, left, box.width) && within(y, top, box.height));
    return {texts: here.filter((d) => d.text).map((d) => d.text), fill: here.find((d) => d.fill && d.h > 10)?.fill};
  });
}"""


@pytest.fixture
def page(visit, replay, recorded):
    page = visit(replay)
    page.evaluate(WATCH)
    wait_for_cycles(page, len(recorded[1][0].cycles))
    page.wait_for_function("document.querySelector('.dv-transitions[data-lane=a] td')")
    return page


def hexed(colour: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in colour[4:-1].split(","))


def test_the_sheet_has_the_texts_and_fills_of_the_tables(page, recorded):
    for index in (2, 7):
        page.evaluate(FREEZE, index)
        cells = page.evaluate(INSIDE, ".dv-grid[data-lane=a]")
        heat = page.evaluate(INSIDE, ".dv-transitions[data-lane=a]")
        page.evaluate(THAW)
        page.evaluate(SETTLE)
        page.evaluate("dcoco.lanes.a.scrub(dcoco.lanes.a.selected + 1)")
        page.evaluate(SETTLE)
        page.evaluate("index => dcoco.lanes.a.scrub(index)", index)
        page.evaluate(SETTLE)
        rest = sorted(grid(page)["cells"], key=lambda c: (c["rank"], c["slot"]))
        assert len(cells) == len(rest)
        for seen, wanted in zip(cells, rest, strict=True):
            token, p = seen["texts"]
            assert p == wanted["p"] and seen["fill"] == hexed(wanted["fill"])
            assert token == wanted["token"] or (token[-1] == "…" and wanted["token"].startswith(token[:-1]))
        assert [seen["texts"] for seen in heat] == [[text] for row in heatmap(page)["cells"] for text in row]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sheet_looks_like_the_tables(visit, replay, recorded, scheme):
    page = visit(replay, color_scheme=scheme, viewport={"width": 1280, "height": 1400})
    wait_for_cycles(page, len(recorded[1][0].cycles))
    page.wait_for_function("document.querySelector('.dv-transitions[data-lane=a] td')")
    page.evaluate("dcoco.lanes.a.scrub(4)")
    page.evaluate(SETTLE)
    views = [page.locator(f".dv-{name}[data-lane=a]") for name in ("grid", "transitions")]
    rest = [pixels(view) for view in views]
    page.evaluate(FREEZE, 4)
    for before, view in zip(rest, views, strict=True):
        assert unlike(pixels(view), before) < 0.015  # edges of letters fall a little differently
    page.evaluate(THAW)
    page.evaluate("dcoco.lanes.a.scrub(20)")
    page.wait_for_function("dcoco.lanes.a.scoresOf(20, dcoco.lanes.a.pair)")
    page.evaluate(SETTLE)
    for before, view in zip(rest, views, strict=True):
        assert unlike(pixels(view), before) > 0.02  # another cycle is another picture


def pixels(view) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(view.screenshot())).convert("RGB")).astype(int)


def unlike(one: np.ndarray, other: np.ndarray) -> float:
    """Share of pixels that differ, over the height that both have."""
    high = min(len(one), len(other))
    return float((np.abs(one[:high] - other[:high]).max(2) > 100).mean())


@pytest.fixture(scope="module")
def thousand(recorded, tmp_path_factory):
    run = tiled(next(run for run in recorded[1] if run.cycles[-1].scores is not None), 1_000)
    folder = tmp_path_factory.mktemp("thousand")
    files.save(folder / "thousand.parquet", [run])
    with serving("--replay", str(folder / "thousand.parquet"), log=folder / "log") as url:
        yield url, run


def test_a_thousand_cycles_open_and_scrub(visit, thousand):
    url, run = thousand
    page = visit(url)
    wait_for_cycles(page, 1_000)
    assert page.locator(".dv-scrubber[data-lane=a] .bars i").count() == 1_000
    page.locator(".dv-transcript[data-lane=a] .text").focus()
    for key, index in [("End", 999), ("ArrowLeft", 998), ("Home", 0)]:
        page.keyboard.press(key)
        page.evaluate(SETTLE)
        cycle = run.cycles[index]
        page.wait_for_function(f"dcoco.lanes.a.scoresOf({index}, 0)")
        page.evaluate(SETTLE)
        seen = grid(page)
        assert seen["caption"].startswith(f"Cycle {index + 1}:")
        assert f"position {cycle.anchor_position}" in seen["caption"]
        tokens = {(c["slot"], c["rank"]): c["token"] for c in seen["cells"]}
        for (slot, rank), token in np.ndenumerate(cycle.candidates):
            assert tokens[slot, rank] == shown(page, run.pieces[int(token)])
        assert np.abs(numbers(heatmap(page)) - cycle.scores[0].astype(float)).max() <= 0.0501
