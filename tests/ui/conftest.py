"""The real app in a process of its own, and a real Chromium that looks at it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from dcoco_viz.presets import ROOT
from dcoco_viz.trace import files
from tests.ui.reading import wait_for_cycles

HOW = "These tests need Chromium: `apt-get install chromium`, or put its path into the variable CHROMIUM."
LOADED_MS = 400_000  # until the engine has loaded, on a busy machine
UP_S = 120  # seconds until the page answers, on a busy machine

TOASTS = """new MutationObserver(() => {
  for (const toast of document.querySelectorAll(".toast-body.error:not([data-seen])")) {
    toast.dataset.seen = true;
    console.log(`toast: ${toast.textContent}`);
  }
}).observe(document, {childList: true, subtree: true});"""

expect.set_options(timeout=15_000)


@contextmanager
def serving(*arguments: str, log: Path):
    """The address of `python app.py ...` on a free port, while the context lasts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "app.py", "--port", str(port), *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    try:
        url, began = f"http://127.0.0.1:{port}/", time.monotonic()
        while not _answers(url):
            ended = process.poll() is not None
            assert not ended and time.monotonic() - began < UP_S, log.read_text(errors="replace")[-3000:]
            time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()


def _answers(url: str) -> bool:
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except OSError:
        return False


def chromium_path() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, HOW
    return found


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Opens an address as a new visitor; fails the test on a script error, a request to another host or a toast.

    A toast is Gradio's way to show an exception that nobody caught; that a server has gone, it says in one too.
    """
    contexts, wrong = [], []

    def open_page(url: str, **options) -> Page:
        contexts.append(chromium.new_context(**{"viewport": {"width": 1280, "height": 1000}, **options}))
        contexts[-1].add_init_script(TOASTS)
        page = contexts[-1].new_page()
        page.on("console", lambda message: _uncaught(message.text) and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(f"script error: {error}"))
        page.on("request", lambda request: _local(request.url, url) or wrong.append(f"asked {request.url}"))
        page.goto(url)
        page.wait_for_selector("[data-lane]", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


def _uncaught(text: str) -> bool:
    return text.startswith("toast:") and "Connection to the server was lost" not in text


def _local(address: str, url: str) -> bool:
    asked, ours = urlsplit(address), urlsplit(url)
    return asked.scheme in ("data", "blob") or asked.netloc == ours.netloc


@pytest.fixture(scope="session")
def recorded():
    """Runs that the app itself recorded: the first trace in assets/traces with scores."""
    for path in sorted((ROOT / "assets" / "traces").glob("*.parquet")):
        runs = files.load(path)
        if len(runs) == 2 and all(run.cycles for run in runs):
            return path, runs
    pytest.fail("assets/traces holds no trace of two runs")


@pytest.fixture(scope="session")
def replay(recorded, tmp_path_factory):
    """The app showing a recorded trace, without an engine."""
    with serving("--replay", str(recorded[0]), log=tmp_path_factory.mktemp("app") / "log") as url:
        yield url


@pytest.fixture
def page(visit, replay, recorded):
    """The recorded trace on a page of its own, its first run drawn."""
    page = visit(replay)
    wait_for_cycles(page, len(recorded[1][0].cycles))
    return page


@pytest.fixture(scope="session")
def live(tmp_path_factory):
    """The app with its engine, which may still be loading; one for all tests that decode.

    In float32, where every method writes the same text on any machine.
    """
    with serving("--dtype", "float32", log=tmp_path_factory.mktemp("app") / "log") as url:
        yield url


@pytest.fixture
def ready(visit, live):
    """The app once its engine has loaded."""
    expect(visit(live).locator("#dv-run")).to_have_text("Run", timeout=LOADED_MS)
    return live
