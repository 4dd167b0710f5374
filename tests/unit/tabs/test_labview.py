"""What the path lab shows of a run: its words around the numbers of dcoco_viz.lab."""

import pytest

from dcoco_viz.lab.cost import measured
from dcoco_viz.lab.replay import SERIAL
from dcoco_viz.lab.table import best, by_slots
from dcoco_viz.tabs.labview import admit, page, serial, view
from tests.unit.factory import make_run
from tests.unit.lab.decoding import decode

SHAPE = {"length": 30, "slots": 4, "pool": 3}


def test_without_a_dense_trace():
    run = decode(1, **SHAPE)
    table, chart, parting = view(run, ["global-sum", "greedy"], 3, 4, [])
    assert [row["walk"] for row in table["rows"]] == ["greedy", "global-sum"]
    assert [row["own"] for row in table["rows"]] == [True, False]
    assert "Recorded anchors only" in table["notes"][1] and table["exact"]
    assert "replays every cycle as the engine chose it" in table["details"][0]
    assert chart is None
    assert (parting["run"], parting["walks"]) == (run.id, ["greedy", "global-sum"])


def test_with_a_dense_trace_and_costs():
    known = [*(decode(1, **SHAPE, limit=limit) for limit in (4, 1, 3)), decode(1, **SHAPE, dense=True)]
    for number, run in enumerate(known):
        run.id = str(number)
    table, chart, _ = view(known[0], [], 3, 4, known)
    assert "Dense trace of 29 positions" in table["notes"][1]
    top = best(by_slots(known[-1], "greedy", measured(known[0], known)))
    assert f"Best number of slots for greedy: {top.slots}, with τ {top.tau:.3f}" in chart["note"]
    assert [panel["label"] for panel in chart["panels"]] == ["τ", "tok/s (estimate)"]


def test_slots_that_were_not_measured_are_named():
    run, dense = decode(1, **SHAPE, limit=3), decode(1, **SHAPE, dense=True)
    dense.id = "dense"
    _, chart, _ = view(run, [], 3, 4, [dense])
    assert "Not measured at 1, 2, 4 slots" in chart["note"]
    for cycle in run.cycles:
        cycle.submitted = 0
    _, chart, _ = view(run, [], 3, 4, [dense])
    assert "No cycle cost was measured" in chart["note"] and len(chart["panels"]) == 1


def test_a_walk_that_is_none_is_explained_in_the_table():
    run = decode(1, **SHAPE)
    run.request.walk = "mystery"
    table, chart, parting = view(run, ["greedy"], 3, 4, [])
    assert "unknown walk 'mystery'" in table["empty"] and chart is parting is None


def test_the_page_of_text_without_a_head():
    text = page(make_run(method="dflash", head=False))
    assert len(text["story"]) == 1 and "no head" in text["story"][0]["parts"][0]


def test_a_serial_head_has_its_own_path_alone():
    run = decode(1, **SHAPE, method="domino")
    table, _, parting = view(run, ["global-sum", "beam:4", "greedy", "greedy+cut:0.3"], 3, 4, [])
    assert [row["walk"] for row in table["rows"]] == parting["walks"] == ["greedy", "greedy+cut:0.3"]
    assert table["notes"][-1] == SERIAL and SERIAL.count(".") == 1
    story = page(run)["story"]
    assert len(story) == 1 and "chose slot by slot" in story[0]["parts"][0]
    admit(run, "greedy+cut:0.5")
    with pytest.raises(ValueError, match="no other walk can be replayed"):
        admit(run, "global-sum")
    assert serial(run) and not serial(decode(1, **SHAPE))


def test_a_dense_trace_of_a_serial_head():
    run, dense = decode(1, **SHAPE, method="dspark"), decode(1, **SHAPE, method="dspark", dense=True)
    dense.id = "dense"
    table, chart, _ = view(run, ["greedy+cut:0.3"], 3, 4, [dense])
    assert [row["dense_tau"] is not None for row in table["rows"]] == [True, True]
    assert chart["panels"][0]["label"] == "τ"


def test_the_page_of_text_of_an_anchored_run():
    text = page(decode(1, **SHAPE, method="dcoco-anchored"))
    assert "over its" in text["story"][0]["parts"][0]
