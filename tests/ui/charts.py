"""Reads back what a chart shows: the traces that Plotly drew, and the table of numbers."""

from playwright.sync_api import Page

DRAWN = """id => [...document.querySelectorAll(`#${id} .panel`)].map(panel => {
  const plot = panel.querySelector(".plot");
  return {label: panel.querySelector("h4").textContent, summary: plot.getAttribute("aria-label"),
          data: JSON.parse(JSON.stringify(plot.data)), lines: plot.querySelectorAll("svg .js-line").length,
          points: plot.querySelectorAll("svg .point").length, xaxis: [...plot._fullLayout.xaxis.range],
          paper: plot._fullLayout.paper_bgcolor, font: plot._fullLayout.font.family};
})"""
READY = """([id, panels]) => {
  const plots = [...document.querySelectorAll(`#${id} .plot`)];
  return plots.length === panels && plots.every(plot => plot.dataset.drawn && !plot.classList.contains("waiting"));
}"""
TABLES = """id => [...document.querySelectorAll(`#${id} table`)].map(table => ({
  caption: table.caption.textContent, head: [...table.tHead.rows[0].cells].map(cell => cell.textContent),
  rows: [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))}))"""


def drawn(page: Page, chart: str, panels: int = 1) -> list[dict]:
    """Every panel of the chart, once all are drawn."""
    page.wait_for_function(READY, arg=[chart, panels], timeout=180_000)  # plotly.js is 4.8 MB to read
    return page.evaluate(DRAWN, chart)


def numbers(page: Page, chart: str) -> list[dict]:
    """The tables behind "Numbers", opened as a keyboard user opens them."""
    summary = page.locator(f"#{chart} summary")
    if not page.locator(f"#{chart} details").evaluate("node => node.open"):
        summary.press("Enter")
    page.wait_for_selector(f"#{chart} table")
    return page.evaluate(TABLES, chart)
