"""Asks the live page for runs, waits for them and reads what it saves."""

from playwright.sync_api import expect

from dcoco_viz.trace import files
from dcoco_viz.trace.pieces import join
from tests.ui.reading import SETTLE

LONG = "Write the multiplication table of 7, from 7 x 1 to 7 x 15, one line each."  # far more than 64 tokens
ENDLESS = "one two " * 12 + "one"  # completed as it stands, it goes on like this
MOST = 1900
DECODED_MS = 180_000


def ask(page, prompt=LONG, **settings):
    page.locator("#dv-prompt textarea").fill(prompt)
    for label, value in settings.items():
        page.get_by_label(label.replace("_", " ").capitalize(), exact=True).fill(str(value))
    page.locator("#dv-run").click()


def ask_endlessly(page):
    """Begin a run that ends only by Stop, or a minute later."""
    more(page)
    page.get_by_label("Raw completion").check()
    page.get_by_label("Slots (1 to 15)", exact=True).fill("1")
    ask(page, ENDLESS, max_tokens=MOST)


def choose(page, label, option):
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).last.click()


def finished(page, lane="a"):
    page.wait_for_function(f"dcoco.lanes.{lane}.state === 'done'", timeout=DECODED_MS)
    page.evaluate(SETTLE)


def saved(page):
    """The runs that the page is about, as it saves them."""
    button = page.get_by_role("button", name="Save this trace")
    expect(button).to_be_enabled()
    with page.expect_download() as download:
        button.click()
    return files.load(download.value.path())


def read(run):
    """All that the verifier read before it wrote."""
    return join(run.pieces[token] for token in run.prompt_ids)


def more(page):
    """Open what is folded away under the prompt."""
    page.locator("#dv-more .label-wrap").click()
