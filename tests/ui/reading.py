"""Reads back from the page what its pictures show."""

import numpy as np
from playwright.sync_api import Page

GRID = """lane => {
  const root = document.querySelector(`.dv-grid[data-lane=${lane}]`);
  const cells = [...root.querySelectorAll("td[data-slot]")].map(td => ({
    slot: +td.dataset.slot, rank: +td.dataset.rank, token: td.querySelector(".tok").textContent,
    p: td.querySelector(".p").textContent, marks: td.className.split(" ").filter(Boolean),
    fill: td.style.backgroundColor}));
  const rule = root.querySelector("line.rule");
  const feet = [...root.querySelectorAll("tfoot td")].map(td => ({
    token: td.querySelector(".tok")?.textContent ?? null, where: td.querySelector(".where").textContent}));
  return {cells, feet, caption: root.querySelector("caption").textContent,
          heads: [...root.querySelectorAll("th.slot .mark")].map(e => e.textContent),
          rule: rule.style.display === "none" ? null : +rule.getAttribute("x1"),
          lefts: [...root.querySelectorAll("td[data-rank='0']")].map(td => td.offsetLeft + td.clientLeft)};
}"""

HEATMAP = """lane => {
  const root = document.querySelector(`.dv-transitions[data-lane=${lane}]`);
  const rows = [...root.querySelectorAll("tbody tr")];
  return {cells: rows.map(tr => [...tr.cells].slice(1).map(td => td.textContent)),
          walked: [...root.querySelectorAll("td.walked")].map(td => [+td.dataset.a, +td.dataset.b]),
          rows: [...root.querySelectorAll("th.from .tok")].map(e => e.textContent),
          columns: [...root.querySelectorAll("th.to .tok")].map(e => e.textContent)};
}"""

# Views redraw once a frame; their tables follow a few frames later, and say until then that they are busy.
SETTLE = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  do { await frame(); await frame(); } while (document.querySelector("[data-lane] table[aria-busy=true]"));
}"""


# unlike Page.wait_for_function, it needs no eval, which the content policy of a report forbids
UNTIL = """async () => {
  for (const end = performance.now() + 120000; !(%s); await new Promise(requestAnimationFrame))
    if (performance.now() > end) throw new Error("it did not come");
}"""


def until(page: Page, condition: str) -> None:
    """Until a condition in JavaScript holds."""
    page.evaluate(UNTIL % condition)


def wait_for_cycles(page: Page, count: int, lane: str = "a") -> None:
    """Until the lane has that many cycles and has drawn one."""
    until(page, f"window.dcoco?.lanes?.{lane}?.cycles.length >= {count} && dcoco.lanes.{lane}.selected >= 0")
    page.evaluate(SETTLE)


def wait_for_lanes(page: Page, lanes: dict) -> None:
    """Until every lane has the cycles of its run: lane -> Run."""
    for lane, run in lanes.items():
        wait_for_cycles(page, len(run.cycles), lane)


def go(page: Page, index: int, lane: str = "a") -> None:
    """Select a cycle, as a user would, with the slider."""
    slider = page.locator(f".dv-scrubber[data-lane={lane}] input[type=range]")
    slider.fill(str(index))
    until(page, f"dcoco.lanes.{lane}.selected === {index}")
    page.evaluate(SETTLE)


def grid(page: Page, lane: str = "a") -> dict:
    return page.evaluate(GRID, lane)


def heatmap(page: Page, lane: str = "a") -> dict:
    return page.evaluate(HEATMAP, lane)


def numbers(seen: dict) -> np.ndarray:
    """The cells of a heatmap; the page writes a minus sign, not a hyphen."""
    return np.array([[float(text.replace("−", "-")) for text in row] for row in seen["cells"]])


def shown(page: Page, piece: str) -> str:
    """How the page writes a piece, by its own function; test_tokens.py checks that function by itself."""
    raw = piece.encode("utf-8", "surrogateescape").decode("latin-1")
    return page.evaluate("piece => dcoco.visible(piece)", raw)
