"""The pictures of README and docs, taken from recorded runs: `python -m tests.ui.screenshots` (Chromium needed)."""

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from dcoco_viz.presets import ROOT
from dcoco_viz.trace import files
from tests.ui.conftest import HOW, serving
from tests.ui.reading import SETTLE, wait_for_cycles

TRACES = ROOT / "assets" / "traces"
# name -> trace, address, viewport, theme
PICTURES = {
    "explore": ("fibonacci", "?view=explore", (1600, 1500), "light"),
    "explore-dark": ("fibonacci", "?view=explore", (1600, 1500), "dark"),
    "compare": ("fibonacci", "?view=compare", (1600, 1400), "light"),
    "coverage": ("train-problem", "?view=coverage", (1600, 1400), "light"),
    "lab": ("train-problem", "?view=lab", (1600, 1400), "light"),
    "runs": ("fibonacci", "?view=runs", (1600, 700), "light"),
    "phone": ("fibonacci", "?view=explore", (390, 1400), "light"),
}


def main() -> None:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium, HOW
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for trace in sorted({picture[0] for picture in PICTURES.values()}):
            others = [path for path in sorted(TRACES.glob("*.parquet")) if path.stem != trace]
            shown = [str(TRACES / f"{trace}.parquet"), *map(str, others)]
            replay = [word for path in shown for word in ("--replay", path)]
            cycles = len(files.load(shown[0])[0].cycles)
            with serving(*replay, log=Path(folder) / "log") as url:
                for name, (of, query, (width, height), theme) in PICTURES.items():
                    if of == trace:
                        size = {"width": width, "height": height}
                        page = browser.new_page(viewport=size, color_scheme=theme)
                        page.goto(url + query)
                        wait_for_cycles(page, cycles)
                        page.evaluate("dcoco.lanes.a.scrub(dcoco.lanes.a.cycles.findIndex(c => c.accepted >= 3))")
                        page.wait_for_timeout(3000)  # a page of Gradio never stops listening: charts come in
                        page.evaluate(SETTLE)
                        page.screenshot(path=ROOT / "docs" / f"{name}.png")
                        page.close()
                        print(f"docs/{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
