"""What a page keeps of its runs, and whose they are."""

import asyncio
from types import SimpleNamespace

from dcoco_viz.tabs.run import _saved, adopt
from dcoco_viz.tabs.visitor import COOKIE, visitor
from dcoco_viz.trace import files
from dcoco_viz.trace.schema import Parent
from dcoco_viz.trace.store import Store
from tests.unit.factory import make_run


def test_a_file_is_written_where_it_should_be_whatever_the_method_is_called(tmp_path):
    async def path_of(run):
        async with _saved([run]) as path:
            return path, [r.request.method for r in files.load(path)]

    for method in (f"{tmp_path}/elsewhere", "../../up", "a\x00b", "x" * 5000):
        run = make_run()
        run.request = run.request.model_copy(update={"method": method})
        path, loaded = asyncio.run(path_of(run))
        assert "dcoco-viz-" in path.split("/")[-2] and loaded == [method]
    assert not list(tmp_path.iterdir())


def test_a_cookie_cannot_name_the_owner_of_what_programs_made():
    for cookie in ("api", "", "visitor"):
        page = SimpleNamespace(cookies={COOKIE: cookie}, session_hash="page")
        assert visitor(page) not in ("api", "")


def test_a_branch_stays_linked_to_the_parent_that_came_with_it():
    parent, branch, alone = (make_run(seed=seed) for seed in range(3))
    branch.request = branch.request.model_copy(update={"parent": Parent(run=parent.id, cycle=1, slot=2, rank=0)})
    alone.request = alone.request.model_copy(update={"parent": Parent(run="gone", cycle=1, slot=2, rank=0)})
    store = Store()
    adopt([parent, branch, alone], store, "somebody")
    assert branch.request.parent.run == parent.id != "run-0"
    assert alone.request.parent.run == "gone"
    assert {run.id for run in store.of("somebody")} == {parent.id, branch.id, alone.id}
