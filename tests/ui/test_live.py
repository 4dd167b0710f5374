"""The whole way: a prompt typed into a real browser, decoded by the real engine, seen cycle by cycle."""

import pytest
from playwright.sync_api import expect

from dcoco_viz.tabs.thread import answer
from dcoco_viz.trace.pieces import join
from tests.ui.asking import DECODED_MS, MOST, ask, ask_endlessly, choose, finished, more, read, saved
from tests.ui.conftest import LOADED_MS
from tests.ui.reading import SETTLE, grid, wait_for_cycles


@pytest.fixture
def page(visit, live):
    page = visit(live)
    expect(page.locator("#dv-run")).to_have_text("Run", timeout=LOADED_MS)
    expect(page.locator("#dv-run")).to_be_enabled()
    return page


def test_the_page_is_there_before_the_engine(visit, live):
    """First in this file: the engine is still loading."""
    page = visit(live)
    expect(page.locator("#dv-top .dv-banner[role=status]")).to_have_attribute("data-kind", "busy")
    expect(page.locator("#dv-run")).to_be_disabled()
    expect(page.locator("#dv-panel-explore [data-kind]:has(h3)")).to_contain_text("The engine is loading")


def test_two_methods_are_decoded_and_shown_beside_each_other(page, tmp_path):
    choose(page, "Compare with", "DFlash")
    ask(page, max_tokens=24)
    wait_for_cycles(page, 1)
    assert page.evaluate("dcoco.lanes.a.follow")
    finished(page, "b")
    for lane, method in (("a", "dcoco"), ("b", "dflash")):
        assert page.evaluate(f"dcoco.lanes.{lane}.run.method") == method
        assert page.evaluate(f"dcoco.lanes.{lane}.tokens.length") == 24
        assert len(grid(page, lane)["cells"]) == 15 * 16
    texts = [page.locator(f".dv-transcript[data-lane={lane}] .text").inner_text() for lane in "ab"]
    assert texts[0] == texts[1]  # T = 0: the text is the verifier's, whatever drafts
    runs = saved(page)
    assert [run.request.method for run in runs] == ["dcoco", "dflash"]
    for lane, run in zip("ab", runs, strict=True):
        seen = page.locator(f".dv-scrubber[data-lane={lane}] .bars i")
        assert seen.evaluate_all("bars => bars.map(b => +b.dataset.accepted)") == [c.accepted for c in run.cycles]


def test_scrubbing_leaves_the_live_cycle_and_comes_back(page):
    ask_endlessly(page)
    wait_for_cycles(page, 4)
    page.locator(".dv-transcript[data-lane=a] .text").focus()
    page.keyboard.press("Home")
    have = page.evaluate("dcoco.lanes.a.cycles.length")
    page.wait_for_function(f"dcoco.lanes.a.cycles.length > {have}")
    assert page.evaluate("dcoco.lanes.a.selected") == 0
    page.get_by_role("button", name="Follow the newest cycle").first.click()
    page.evaluate(SETTLE)
    assert page.evaluate(f"dcoco.lanes.a.selected >= {have}")
    page.locator("#dv-stop").click()
    finished(page)


def test_stop_ends_the_run(page):
    """That an abort takes one cycle is measured at the engine; here the click and the network are in between."""
    ask_endlessly(page)
    wait_for_cycles(page, 3)
    page.locator("#dv-stop").click()
    finished(page)
    assert page.evaluate("dcoco.lanes.a.run.finish") == "abort"
    assert page.evaluate("dcoco.lanes.a.tokens.length") < MOST
    expect(page.locator("#dv-run")).to_be_enabled()


def test_another_browser_sees_nothing_of_a_run(page, visit, live):
    other = visit(live)
    ask(page, max_tokens=8)
    finished(page)
    assert other.evaluate("dcoco.lanes.a.run") is None
    assert not other.locator(".dv-grid[data-lane=a] table").is_visible()


def test_who_waits_for_the_engine_is_told_and_can_leave(page, visit, live):
    other = visit(live)
    expect(other.locator("#dv-run")).to_be_enabled()
    ask_endlessly(page)
    wait_for_cycles(page, 2)
    ask(other, max_tokens=4)
    note = other.locator(".dv-banner", has_text="Waiting for the engine").first
    expect(note).to_contain_text("another one first")
    other.locator("#dv-stop").click()
    expect(other.locator("#dv-run")).to_be_enabled()
    expect(note).to_be_hidden()
    assert other.evaluate("dcoco.lanes.a.run") is None
    ask(other, max_tokens=4)
    expect(note).to_be_visible()
    page.locator("#dv-stop").click()
    finished(other)
    expect(note).to_be_hidden()
    assert page.evaluate("dcoco.lanes.a.run.finish") == "abort"


def test_closing_the_page_frees_the_engine(visit, live, page):
    leaving = visit(live)
    expect(leaving.locator("#dv-run")).to_be_enabled()
    ask_endlessly(leaving)
    wait_for_cycles(leaving, 2)
    leaving.close()
    ask(page, max_tokens=4)
    finished(page)


@pytest.mark.parametrize(
    ("prompt", "settings", "sentence"),
    [
        ("   ", {}, "Type a prompt first"),
        ("x" * 50_000, {}, "50,000 characters"),
        ("Hello", {"max_tokens": 0}, "Max tokens must be a number from 1 to 4,096"),
        ("Hello", {"seed": -1}, "The seed must be a number from 0"),
        ("word " * 3000, {"max_tokens": 64}, "shorten the prompt"),
    ],
)
def test_what_cannot_be_served_is_explained(page, prompt, settings, sentence):
    ask(page, prompt, **settings)
    expect(page.locator(".dv-banner[role=alert]")).to_contain_text(sentence)
    expect(page.locator("#dv-run")).to_be_enabled()


@pytest.mark.parametrize("prompt", ["🎉🚀 naïve?", "מה שלומך היום?", '<img src=x onerror="window.hacked=1">'])
def test_any_text_can_be_decoded(page, prompt):
    ask(page, prompt, max_tokens=8)
    finished(page)
    assert page.evaluate("dcoco.lanes.a.tokens.length") > 0
    assert page.evaluate("window.hacked") is None
    assert not page.locator(".dv-banner[role=alert]").inner_text()


def test_enter_runs_the_prompt_and_the_hint_goes(page):
    start = page.locator("#dv-panel-explore [data-kind=ready]:has(h3)")
    expect(start).to_contain_text("No run yet")
    page.get_by_label("Max tokens", exact=True).fill("4")
    prompt = page.locator("#dv-prompt textarea")
    prompt.fill("Say")
    prompt.press("Shift+Enter")
    prompt.press_sequentially("hello")
    prompt.press("Enter")
    finished(page)
    assert page.evaluate("dcoco.lanes.a.run.prompt") == "Say\nhello"
    expect(start).to_be_hidden()


def test_a_system_prompt_is_read(page):
    more(page)
    page.get_by_label("System prompt").fill("You are a pirate called Anne Bonny.")
    ask(page, "Who are you?", max_tokens=4)
    finished(page)
    (run,) = saved(page)
    assert run.request.system == "You are a pirate called Anne Bonny."
    assert read(run).index("You are a pirate called Anne Bonny.") < read(run).index("Who are you?")
    assert read(run).count("<|im_start|>system") == 1
    more(page)
    expect(page.locator("#dv-more .label-wrap")).to_contain_text("A system prompt is set")


def test_a_reply_goes_on_from_the_chat(page):
    reply = page.get_by_role("button", name="Reply to this answer")
    expect(reply).to_be_disabled()
    ask(page, "My name is Ada.", max_tokens=12)
    finished(page)
    expect(reply).to_be_enabled()
    reply.click()
    prompt, turns = page.locator("#dv-prompt textarea"), page.locator(".dv-turns li")
    expect(turns).to_have_count(2)
    expect(prompt).to_be_focused()
    assert prompt.input_value() == ""
    first = page.evaluate("dcoco.lanes.a.run.id")
    ask(page, "What is my name?", max_tokens=12)
    page.wait_for_function(f"dcoco.lanes.a.run.id !== '{first}' && dcoco.lanes.a.state === 'done'", timeout=DECODED_MS)
    (run,) = saved(page)
    said = [turn.content for turn in run.request.history]
    assert [turn.role for turn in run.request.history] == ["user", "assistant"]
    assert said[0] == "My name is Ada." and turns.locator("bdi").all_text_contents() == said
    text = read(run)
    assert text.index(said[0]) < text.index(said[1]) < text.index("What is my name?")
    page.get_by_role("button", name="New chat").click()
    expect(turns).to_have_count(0)
    ask(page, "What is my name?", max_tokens=4)
    page.wait_for_function("dcoco.lanes.a.tokens.length === 4 && dcoco.lanes.a.state === 'done'", timeout=DECODED_MS)
    assert not saved(page)[0].request.history


def test_a_raw_completion_is_read_as_it_stands(page):
    more(page)
    page.get_by_label("System prompt").fill("Be brief.")
    page.get_by_label("Raw completion").check()
    expect(page.get_by_label("System prompt")).to_be_disabled()
    expect(page.get_by_label("Text to complete")).to_be_visible()
    ask(page, "The capital of France is", max_tokens=8)
    finished(page)
    (run,) = saved(page)
    assert run.request.raw and not run.request.system
    assert read(run) == "The capital of France is"
    page.get_by_role("button", name="Reply to this answer").click()
    expect(page.locator(".dv-banner[role=alert]")).to_contain_text("no chat to reply in")


def test_a_walk_of_ones_own(page):
    walk = page.get_by_label("Walk", exact=True)
    walk.fill("beam:3+k:8+cut:0.05")
    walk.press("Enter")
    ask(page, "Count to five.", max_tokens=16)
    finished(page)
    (run,) = saved(page)
    assert run.request.walk == "beam:3+cut:0.05+k:8"
    assert all(c.ranks.max() < 8 for c in run.cycles if c.ranks is not None)
    assert min(c.submitted for c in run.cycles) < 15  # some block was cut


def test_a_walk_that_is_none_is_explained(page):
    walk = page.get_by_label("Walk", exact=True)
    walk.fill("beam:many")
    walk.press("Enter")
    ask(page, "Hello", max_tokens=4)
    expect(page.locator(".dv-banner[role=alert]")).to_contain_text("Unknown walk 'beam:many': W is a whole number")
    assert page.evaluate("dcoco.lanes.a.run") is None


def test_what_was_shown_comes_back_when_nothing_could_be_decoded(page):
    ask(page, "Hello", max_tokens=4)
    finished(page)
    run = page.evaluate("dcoco.lanes.a.run.id")
    ask(page, "word " * 3000, max_tokens=64)
    expect(page.locator(".dv-banner[role=alert]")).to_contain_text("shorten the prompt")
    page.wait_for_function(f"dcoco.lanes.a.run?.id === '{run}' && dcoco.lanes.a.tokens.length === 4")


def test_a_branch_goes_on_from_another_candidate(page):
    ask(page, max_tokens=40)
    finished(page)
    (parent,) = saved(page)
    cycle = next(c for c in parent.cycles[2:] if c.candidates is not None and not c.clipped)
    before = cycle.anchor_position + 1 - len(parent.prompt_ids)
    rank = next(k for k, token in enumerate(cycle.candidates[0]) if token != parent.token_ids[before])
    run = page.evaluate("dcoco.lanes.a.run.id")
    page.evaluate(f"dcoco.branch({{run: '{run}', cycle: {cycle.index}, slot: 1, rank: {rank}}})")
    page.wait_for_function("dcoco.lanes.b.run", timeout=DECODED_MS)
    finished(page, "b")
    assert page.evaluate("dcoco.lanes.a.run.id") == run
    expect(page.locator("#dv-run")).to_be_enabled()
    first, branch = saved(page)
    token = int(cycle.candidates[0, rank])
    assert first.token_ids == parent.token_ids
    assert branch.request.parent.model_dump() == {"run": run, "cycle": cycle.index, "slot": 1, "rank": rank}
    assert branch.request.continued == [*parent.token_ids[:before], token]
    assert branch.prompt_ids == [*parent.prompt_ids, *branch.request.continued]
    assert answer(branch).startswith(join(parent.pieces[t] for t in parent.token_ids[:before]))
    assert len(branch.token_ids) <= 40 - before - 1 or len(branch.token_ids) == 16
