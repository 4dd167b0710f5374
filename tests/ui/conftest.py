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

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from dcoco_viz.presets import ROOT
from dcoco_viz.trace import files

HOW = "These tests need Chromium: `apt-get install chromium`, or put its path into the variable CHROMIUM."
UP_S = 120  # seconds until the page answers, on a busy machine

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


@pytest.fixture(scope="session")
def chromium():
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, HOW
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Opens an address as a new visitor; fails the test on any script error or request to another host."""
    contexts, wrong = [], []

    def open_page(url: str, **options) -> Page:
        contexts.append(chromium.new_context(**{"viewport": {"width": 1280, "height": 1000}, **options}))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: wrong.append(f"script error: {error}"))
        page.on("request", lambda request: _local(request.url, url) or wrong.append(f"asked {request.url}"))
        page.goto(url)
        page.wait_for_selector("[data-lane]", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


def _local(address: str, url: str) -> bool:
    return address.startswith((url, "data:", "blob:"))


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
