"""Opening traces from the page: good ones, and ones that are not."""

from playwright.sync_api import expect

from dcoco_viz.trace import files
from tests.ui.reading import grid, wait_for_cycles


def offer(page, path):
    page.locator("#dv-files input[type=file]").set_input_files(str(path))


def test_a_damaged_file_is_explained_and_the_page_stays(page, recorded, tmp_path):
    whole = recorded[0].read_bytes()
    for name, content in (
        ("cut.parquet", whole[: len(whole) // 2]),
        ("text.parquet", b"hello"),
        ("no.parquet", b""),
    ):
        (tmp_path / name).write_bytes(content)
        offer(page, tmp_path / name)
        alert = page.locator(".dv-banner[role=alert]")
        expect(alert).to_contain_text(f"{name} cannot be read as a trace")
    assert page.evaluate("dcoco.lanes.a.cycles.length") == len(recorded[1][0].cycles)
    assert grid(page)["cells"]


def test_a_trace_opens_in_place_of_what_was_there(page, recorded, tmp_path):
    alone = recorded[1][1]
    files.save(tmp_path / "one.parquet", [alone])
    before = page.evaluate("dcoco.lanes.a.run.id")
    offer(page, tmp_path / "one.parquet")
    page.wait_for_function(f"dcoco.lanes.a.run.id !== '{before}'")
    wait_for_cycles(page, len(alone.cycles))
    assert page.evaluate("dcoco.lanes.a.run.method") == alone.request.method
    assert page.evaluate("dcoco.lanes.b.run") is None
    assert not page.locator("#dv-lane-b").is_visible()
    assert page.evaluate("dcoco.lanes.a.run.id") != alone.id


def test_what_was_opened_can_be_saved(page, recorded, tmp_path):
    files.save(tmp_path / "two.parquet", recorded[1])
    offer(page, tmp_path / "two.parquet")
    button = page.get_by_role("button", name="Save this trace")
    expect(button).to_be_enabled()
    with page.expect_download() as download:
        button.click()
    saved = files.load(download.value.path())
    assert [run.token_ids for run in saved] == [run.token_ids for run in recorded[1]]


def test_another_visitor_sees_nothing_of_it(page, visit, replay, recorded, tmp_path):
    files.save(tmp_path / "one.parquet", [recorded[1][1]])
    offer(page, tmp_path / "one.parquet")
    page.wait_for_function("dcoco.lanes.b.run === null")
    other = visit(replay)
    wait_for_cycles(other, len(recorded[1][0].cycles))
    shown = {other.evaluate(f"dcoco.lanes.{lane}.run.id") for lane in "ab"}
    assert page.evaluate("dcoco.lanes.a.run.id") not in shown


def test_a_replay_knows_no_engine(page):
    assert not page.locator("#dv-run").is_visible()
    expect(page.locator("#dv-top .dv-banner[role=status]")).to_contain_text("no engine")
