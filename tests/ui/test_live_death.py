"""An engine that dies under a run: whoever is on the page is told, and what was recorded can be saved."""

from urllib.parse import urlsplit

import psutil
from playwright.sync_api import expect

from dcoco_viz.trace import files
from tests.ui.asking import ask, ask_endlessly
from tests.ui.conftest import LOADED_MS, serving
from tests.ui.reading import wait_for_cycles

DEAD = "The engine process has died"


def worker(url) -> psutil.Process:
    """The engine's worker process of the app at this address."""
    port = str(urlsplit(url).port)
    [app] = [child for child in psutil.Process().children() if port in child.cmdline()]
    [found] = [child for child in app.children(recursive=True) if "Worker" in child.name()]
    return found


def test_a_worker_that_is_killed(visit, tmp_path):
    with serving("--dtype", "float32", log=tmp_path / "log") as url:
        decoding, waiting, idle = (visit(url) for _ in range(3))
        for page in (decoding, waiting, idle):
            expect(page.locator("#dv-run")).to_be_enabled(timeout=LOADED_MS)
        ask_endlessly(decoding)
        wait_for_cycles(decoding, 4)
        ask(waiting, "Hello", max_tokens=4)
        expect(waiting.locator(".dv-banner", has_text="Waiting for the engine").first).to_be_visible()
        worker(url).kill()
        for page in (decoding, waiting):
            expect(page.locator(".dv-banner[role=alert]")).to_contain_text(DEAD)
        for page in (decoding, waiting, idle):
            expect(page.locator("#dv-top .dv-banner[role=status]")).to_contain_text(DEAD)
            expect(page.locator("#dv-run")).to_be_disabled()
        with decoding.expect_download() as download:
            decoding.get_by_role("button", name="Save this trace").click()
        [run] = files.load(download.value.path())
        assert run.finish_reason == "error" and len(run.cycles) >= 4
