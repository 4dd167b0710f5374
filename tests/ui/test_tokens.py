"""Token text is text: hostile, invisible, half a character, right to left, or very long."""

import copy

import pytest

from dcoco_viz.trace import files
from tests.ui.conftest import serving
from tests.ui.reading import grid, heatmap, wait_for_cycles

HOSTILE = {
    "<img src=x onerror=\"window.hacked=1\">": "<img·src=x·onerror=\"window.hacked=1\">",
    "</td><script>window.hacked=1</script>": "</td><script>window.hacked=1</script>",
    "a\u200bb": "a<200B>b",
    "\u202eabc": "<202E>abc",
    "שלום": "שלום",
    " two\n": "·two⏎",
    b"\xe2\x82".decode("utf-8", "surrogateescape"): "<E2><82>",
    "\u0301": "◌\u0301",
    "": "∅",
    "${1+1}{{value}}": "${1+1}{{value}}",
    "x" * 10_000: "x" * 48 + "…",
    "שלום" * 1_500: ("שלום" * 13)[:48] + "…",
    "\u200b<img src=x onerror=\"window.hacked=1\">": "<200B><img·src=x·onerror=\"window.hacked=1\">",
}  # fmt: skip


@pytest.fixture(scope="module")
def hostile(recorded, tmp_path_factory):
    """A recorded trace whose first candidates have been given hostile texts, and the app that shows it."""
    run = copy.deepcopy(next(run for run in recorded[1] if run.cycles[-1].scores is not None))
    first = next(c for c in run.cycles if c.candidates is not None)
    for token, piece in zip(first.candidates[0].tolist(), HOSTILE, strict=False):
        run.pieces[token] = piece
    run.pieces[int(first.committed[0])] = next(iter(HOSTILE))
    run.pieces[int(first.committed[-1])] = "x" * 10_000
    folder = tmp_path_factory.mktemp("hostile")
    files.save(folder / "hostile.parquet", [run])
    with serving("--replay", str(folder / "hostile.parquet"), log=folder / "log") as url:
        yield url, run, first


def test_hostile_text_is_shown_and_not_run(visit, hostile):
    url, run, first = hostile
    page = visit(url)
    wait_for_cycles(page, len(run.cycles))
    seen = {c["rank"]: c["token"] for c in grid(page)["cells"] if c["slot"] == 0}
    row = first.candidates[0].tolist()
    for rank, wanted in enumerate(HOSTILE.values()):
        if row[rank] != int(first.committed[0]):
            assert seen[rank] == wanted
    page.wait_for_function("document.querySelector('.dv-transitions th.from')")
    assert heatmap(page)["rows"] == [seen[rank] for rank in range(16)]
    assert page.locator(".dv-grid img, .dv-grid script, .dv-transcript img, .dv-transitions img").count() == 0
    assert page.evaluate("window.hacked") is None
    assert next(iter(HOSTILE)) in page.locator(".dv-transcript[data-lane=a] .text").inner_text()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_token_in_the_text_does_not_widen_the_page(visit, hostile, width):
    page = visit(hostile[0], viewport={"width": width, "height": 844})
    wait_for_cycles(page, len(hostile[1].cycles))
    assert "x" * 10_000 in page.locator(".dv-transcript[data-lane=a] .text").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("piece", "wanted"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_every_character_is_visible(visit, hostile, piece, wanted):
    page = visit(hostile[0])
    raw = piece.encode("utf-8", "surrogateescape").decode("latin-1")
    assert page.evaluate("piece => dcoco.visible(piece)", raw) == wanted


def test_a_character_over_two_tokens_is_read_whole(visit, hostile):
    page = visit(hostile[0])
    parts = ["\u00e2", "\u0082\u00ac", "!"]  # the bytes of €, then an exclamation mark
    script = "parts => { const read = dcoco.reader(); return parts.map(read); }"
    assert page.evaluate(script, parts) == ["", "€", "!"]
