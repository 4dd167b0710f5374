"""How fast a long run scrubs: `python -m tests.ui.framerate` holds the right arrow key down in a real Chromium.

A recorded trace is tiled to a length, opened without an engine, and an arrow key goes down once in every animation
frame, from the first cycle to the last. Printed: frames a second and frame times by the clock, which others on the
machine slow down, and processor time, which they hardly do. A frame that showed another cycle than the selected one
is counted as late. Measured on its own; no test asserts a time.
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from dcoco_viz.presets import ROOT
from dcoco_viz.trace import files
from tests.ui.conftest import chromium_path, serving
from tests.ui.reading import wait_for_cycles
from tests.ui.tiling import tiled

HOLD = """async () => {
  const lane = dcoco.lanes.a, box = document.querySelector(".dv-transcript[data-lane=a] .text");
  const caption = document.querySelector(".dv-grid[data-lane=a] caption");
  const frame = () => new Promise(requestAnimationFrame), task = () => new Promise((done) => {
    const {port1, port2} = new MessageChannel(); // between two frames, as a key is
    port1.onmessage = done;
    port2.postMessage(0);
  });
  const times = [], late = [];
  while (lane.selected < lane.cycles.length - 1) {
    await task();
    box.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true, cancelable: true}));
    times.push(await frame());
    if (!caption.textContent.startsWith(`Cycle ${lane.selected + 1}:`)) late.push(lane.selected);
  }
  return {times, late: late.length};
}"""
PARTS = {"TaskDuration": "all", "ScriptDuration": "script", "RecalcStyleDuration": "style", "LayoutDuration": "layout"}


def measure(url: str, cycles: int, width: int, height: int, scheme: str) -> dict:
    """Times of one scrub through the first lane, ms a frame."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(url)
        page.wait_for_selector("[data-lane]", state="attached")
        wait_for_cycles(page, cycles)
        page.evaluate("document.querySelector('.dv-scrubber[data-lane=a]').scrollIntoView()")
        page.wait_for_timeout(1_000)
        devtools, system = page.context.new_cdp_session(page), browser.new_browser_cdp_session()
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = _main(devtools), _processes(system)
        seen = page.evaluate(HOLD)
        after = _main(devtools), _processes(system)
        browser.close()
    frames = np.diff(seen["times"])
    return {
        "cycles": cycles,
        "frames a second": round(1_000 / float(frames.mean()), 1),
        "median ms": round(float(np.median(frames)), 1),
        "95th percentile ms": round(float(np.quantile(frames, 0.95)), 1),
        "late frames": seen["late"],
        "main thread ms": {
            name: round(1_000 * (after[0][key] - before[0][key]) / len(frames), 2) for key, name in PARTS.items()
        },
        "all threads ms": {
            name: round(1_000 * (after[1][name] - before[1].get(name, 0)) / len(frames), 1) for name in after[1]
        },
    }


def _main(devtools) -> dict[str, float]:
    """Processor seconds of the page's main thread, by what they went into."""
    return {metric["name"]: metric["value"] for metric in devtools.send("Performance.getMetrics")["metrics"]}


def _processes(system) -> dict[str, float]:
    """Processor seconds of Chromium's processes by their kind: the GPU process paints, here in software."""
    out: dict[str, float] = {}
    for process in system.send("SystemInfo.getProcessInfo")["processInfo"]:
        out[process["type"]] = out.get(process["type"], 0.0) + process["cpuTime"]
    return {kind: out[kind] for kind in ("renderer", "GPU") if kind in out}


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--cycles", type=int, nargs="+", default=[300, 1_000])
    ask.add_argument("--trace", type=Path, default=ROOT / "assets" / "traces" / "fibonacci.parquet")
    ask.add_argument("--lanes", type=int, choices=(1, 2), default=1)
    ask.add_argument("--size", type=int, nargs=2, default=(1280, 1000), metavar=("WIDTH", "HEIGHT"))
    ask.add_argument("--scheme", choices=("light", "dark"), default="light")
    asked = ask.parse_args()
    runs = files.load(asked.trace)[: asked.lanes]
    with tempfile.TemporaryDirectory() as folder:
        for cycles in asked.cycles:
            path = Path(folder) / f"{cycles}.parquet"
            files.save(path, [tiled(run, cycles) for run in runs])
            with serving("--replay", str(path), log=Path(folder) / "log") as url:
                print(json.dumps(measure(url, cycles, *asked.size, asked.scheme)), flush=True)


if __name__ == "__main__":
    main()
