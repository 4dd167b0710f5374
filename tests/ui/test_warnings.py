"""The lines under a run's numbers, read back from the page."""

import copy

import pytest
from playwright.sync_api import expect

from dcoco_viz.components.warnings import warnings
from dcoco_viz.metrics.repetition import loop
from dcoco_viz.trace import files
from tests.ui.conftest import serving
from tests.ui.reading import shown, wait_for_cycles

HOSTILE = '<img src=x onerror="window.hacked=1">'


@pytest.fixture(scope="module")
def looping(recorded, tmp_path_factory):
    """A recorded run whose text was made a loop of tokens, one of them hostile."""
    looped = copy.deepcopy(recorded[1][0])
    gram = list(dict.fromkeys(looped.token_ids))[:5]
    looped.pieces[gram[2]], looped.request.record = HOSTILE, "light"
    looped.token_ids = [gram[i % 5] for i in range(len(looped.token_ids))]
    at = 1
    for cycle in looped.cycles:
        cycle.anchor = looped.token_ids[at - 1]
        cycle.committed[:] = looped.token_ids[at : at + len(cycle.committed)]
        at += len(cycle.committed)
        kept = min(cycle.accepted, len(cycle.committed))
        cycle.drafted[:kept] = cycle.committed[:kept]
        for name in ("candidates", "logits", "lognorm", "scores", "ranks", "verifier", "drafted_logprob"):
            setattr(cycle, name, None)
    folder = tmp_path_factory.mktemp("looped")
    files.save(folder / "looped.parquet", [looped])
    with serving("--replay", str(folder / "looped.parquet"), log=folder / "log") as url:
        yield url, looped


@pytest.fixture
def page(visit, looping):
    page = visit(looping[0])
    wait_for_cycles(page, len(looping[1].cycles))
    return page


def test_a_loop_is_named_token_by_token(page, looping):
    run = looping[1]
    (line,) = warnings(run)
    seen = page.locator(".dv-warnings[data-lane=a] .line")
    expect(seen).to_have_count(1)
    assert line["text"] in seen.inner_text()
    assert f"cover {loop(run.token_ids).covered} tokens" in line["text"]
    tokens = seen.locator(".tok").all_inner_texts()
    assert tokens == [shown(page, run.pieces[token]) for token in loop(run.token_ids).gram]
    assert shown(page, HOSTILE) in tokens
    assert seen.locator("img").count() == 0 and page.evaluate("window.hacked") is None


def test_a_branch_needs_an_engine(page):
    page.evaluate("dcoco.branch({run: dcoco.lanes.a.run.id, cycle: 0, slot: 1, rank: 1})")
    expect(page.locator(".dv-banner[role=alert]")).to_contain_text("without an engine")


def test_a_usual_run_has_no_line(visit, replay, recorded):
    page = visit(replay)
    wait_for_cycles(page, len(recorded[1][0].cycles))
    assert not warnings(recorded[1][0])
    assert not page.locator(".dv-warnings[data-lane=a]").is_visible()
