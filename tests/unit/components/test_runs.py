"""The list of runs says what the metrics say."""

from dcoco_viz.components.readout import figures
from dcoco_viz.components.runs import NUMBERS, listing, title
from dcoco_viz.metrics.summary import summary
from dcoco_viz.trace.schema import Parent, Request
from tests.unit.factory import make_run


def test_the_numbers_are_those_of_the_summary():
    runs = [make_run(cycles=9), make_run(method="none", seed=1), make_run(cycles=0, seed=2)]
    for row, run in zip(listing(runs, [], [], [])["rows"], runs, strict=True):
        known = summary(run)
        assert row["numbers"] == {name: getattr(known, name) for name in NUMBERS}
        shown = figures(run)  # as Explore shows them
        assert {name: row["written"][name] for name in NUMBERS if name in shown} == {
            name: shown[name] for name in NUMBERS if name in shown
        }
        assert row["written"]["seconds"] == f"{known.seconds:.2f}"


def test_a_run_without_a_name_goes_by_the_first_words_of_its_prompt():
    def called(prompt, name=""):
        run = make_run()
        run.request, run.name = Request(prompt=prompt), name
        return title(run)

    assert called("Two  words\n") == "Two words"
    assert called("word " * 40) == "word " * 9 + "…"
    assert called("x" * 90) == "x" * 48 + " …"
    assert called("") == "Empty prompt"
    assert called("a prompt", "a name") == "a name"


def test_samples_branches_and_dense_traces_are_told_apart():
    parent, branch, dense, sample = (make_run(seed=seed) for seed in range(4))
    parent.name = "the trunk"
    branch.request.parent = Parent(run=parent.id, cycle=2, slot=3, rank=1)
    dense.request.record = "dense"
    value = listing([parent, branch, dense], [sample], [sample.id], [])
    rows = {row["id"]: row for row in value["rows"]}
    assert [row["sample"] for row in value["rows"]] == [False, False, False, True]
    assert rows[branch.id]["parent"] == {"run": parent.id, "cycle": 2, "slot": 3, "rank": 1, "title": "the trunk"}
    assert rows[parent.id]["parent"] is None
    assert [run for run, row in rows.items() if row["dense"]] == [dense.id]
    assert value["current"] == [sample.id]


def test_a_parent_that_is_not_on_the_list_has_no_name():
    branch = make_run()
    branch.request.parent = Parent(run="gone", cycle=0, slot=1, rank=0)
    assert listing([branch], [], [], [])["rows"][0]["parent"]["title"] is None


def test_an_unknown_method_has_its_own_name_and_a_known_colour():
    run = make_run()
    run.request.method = "<b>"
    row = listing([run], [], [], [])["rows"][0]
    assert (row["method"], row["label"]) == ("none", "<b>")
