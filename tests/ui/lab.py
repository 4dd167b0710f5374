"""Reads back what the path lab shows."""

from playwright.sync_api import Page, expect

FIRST_MS = 120_000  # the first visit loads torch, on a busy machine

TABLE = """() => [...document.querySelectorAll("#dv-lab-table tbody tr")].map(tr => ({
  walk: tr.dataset.walk, own: tr.classList.contains("own"), removable: !!tr.querySelector("button"),
  numbers: [...tr.querySelectorAll(".number")].map(e => e.textContent),
  cycles: tr.querySelector(".cycles")?.textContent ?? "",
  bars: tr.querySelector(".bars").getAttribute("aria-label")}))"""
WALKS = "[...document.querySelectorAll('#dv-lab-table tbody tr')].map(tr => tr.dataset.walk)"
LIST = """() => [...document.querySelectorAll("#dv-lab-parting [role=option]")].map(row => ({
  cycle: +row.dataset.cycle, slot: +row.dataset.slot, accepted: [+row.dataset.a, +row.dataset.b],
  text: [...row.children].map(e => e.textContent), selected: row.getAttribute("aria-selected") === "true"}))"""
PICTURE = """() => {
  const root = document.querySelector("#dv-lab-parting"), svg = root.querySelector("svg");
  const nodes = [...svg.querySelectorAll("rect.node")].map(e => ({
    slot: +e.dataset.slot, rank: +e.dataset.rank, marks: [...e.classList].filter(c => c !== "node"),
    token: e.querySelector("title").textContent, left: +e.getAttribute("x")}));
  const rule = which => +svg.querySelector(`line.rule.${which}`).getAttribute("x1");
  const rows = Object.fromEntries([...root.querySelectorAll("table tr")].map(tr =>
    [tr.cells[0].textContent,
     [...tr.cells].slice(1).map(td => td.querySelector(".tok")?.textContent ?? td.textContent)]));
  const marks = [...root.querySelectorAll("table .mark")].map(e => e.textContent);
  return {nodes, rules: {a: rule("a"), b: rule("b")}, rows, marks, words: root.querySelector(".words").textContent,
          scores: [...svg.querySelectorAll("text.score")].map(e => e.textContent),
          cycle: +root.querySelector(".scroller").dataset.cycle};
}"""


def arrived(page: Page) -> None:
    """Until the lab shows a run, a picture included where there is something to draw."""
    expect(page.locator("#dv-lab-table tbody tr").first).to_be_visible(timeout=FIRST_MS)
    page.wait_for_function("document.querySelector('#dv-lab-parting [data-ready], #dv-lab-parting[data-ready]')")


def table(page: Page, walks: list[str]) -> list[dict]:
    """The rows, once they are these walks'."""
    page.wait_for_function(f"walks => JSON.stringify({WALKS}) === JSON.stringify(walks)", arg=walks)
    return page.evaluate(TABLE)


def partings(page: Page, a: str, b: str) -> list[dict]:
    """The list of cycles, once it is about these walks."""
    page.wait_for_function(f"document.querySelector('#dv-lab-parting [data-ready=\"{a} {b}\"]')")
    return page.evaluate(LIST)


def picture(page: Page, cycle: int) -> dict:
    """The picture, once it is this cycle's (from 0)."""
    page.wait_for_function(f"document.querySelector('#dv-lab-parting .scroller')?.dataset.cycle === '{cycle}'")
    return page.evaluate(PICTURE)


def add(page: Page, walk: str) -> None:
    page.get_by_label("Add a walk").fill(walk)
    page.get_by_label("Add a walk").press("Enter")
