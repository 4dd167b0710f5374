import csv
import json
from dataclasses import fields

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcoco_viz.trace import export
from dcoco_viz.trace.export import cell, json_parts, save_csv, save_json
from dcoco_viz.trace.schema import Cycle, Request, Run
from tests.unit.factory import make_run


def strict(name):
    raise ValueError(f"{name} is not JSON")


def loaded(run: Run) -> dict:
    return json.loads("".join(json_parts(run)), parse_constant=strict)


@pytest.mark.parametrize("how", [{}, {"method": "none"}, {"record": "light"}, {"head": False}, {"cycles": 0},
                                 {"method": "domino"}, {"method": "dcoco-anchored"}])  # fmt: skip
def test_json_holds_every_field_of_the_record(how):
    run = make_run(**{"slots": 15, "pool": 16, "cycles": 4, **how})
    data = loaded(run)
    assert (data["format"], data["version"]) == ("dcoco-viz run", 1)
    found = data["run"]
    assert found.keys() == {field.name for field in fields(Run)} | {"text"}
    assert Request(**found["request"]) == run.request and found["text"] == run.text
    assert {int(i): piece for i, piece in found["pieces"].items()} == run.pieces
    for name in ("id", "prompt_ids", "token_ids", "finish_reason", "seconds", "ttft_s", "created", "name", "meta"):
        assert found[name] == getattr(run, name)
    assert len(found["cycles"]) == len(run.cycles)
    for plain, cycle in zip(found["cycles"], run.cycles, strict=True):
        assert plain.keys() == {field.name for field in fields(Cycle)}
        for name, value in plain.items():
            recorded = getattr(cycle, name)
            if isinstance(recorded, np.ndarray):
                again = np.array(value, np.float64).reshape(recorded.shape)
                assert np.array_equal(again, recorded.astype(np.float64)), name
                assert np.shape(value) == recorded.shape or not recorded.size
            else:
                assert value == recorded and type(value) is type(recorded), name


def test_a_probability_of_zero_is_null():
    run = make_run()
    run.cycles[0].drafted_logprob[1] = -np.inf
    found = loaded(run)["run"]["cycles"][0]["drafted_logprob"]
    assert found[1] is None and found[0] == float(run.cycles[0].drafted_logprob[0])


@given(st.lists(st.binary(max_size=6), min_size=1, max_size=9))
def test_any_bytes_survive_json(raw):
    run = make_run(cycles=1)
    run.pieces |= {100 + i: piece.decode("utf-8", "surrogateescape") for i, piece in enumerate(raw)}
    assert {int(i): piece for i, piece in loaded(run)["run"]["pieces"].items()} == run.pieces


def test_the_file_is_ascii(tmp_path):
    save_json(tmp_path / "run.json", make_run())
    assert json.loads((tmp_path / "run.json").read_bytes().decode("ascii"))["run"]["id"] == "run-0"


def rows(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_one_row_a_cycle_with_its_numbers(tmp_path):
    run = make_run(slots=6, cycles=5, cut=1)
    save_csv(tmp_path / "run.csv", run)
    found = rows(tmp_path / "run.csv")
    assert [int(row["cycle"]) for row in found] == [1, 2, 3, 4, 5]
    for row, cycle in zip(found, run.cycles, strict=True):
        assert tuple(row) == export.COLUMNS
        for name in ("anchor_position", "anchor", "submitted", "accepted"):
            assert int(row[name]) == getattr(cycle, name)
        for name in ("draft_ms", "head_ms", "verify_ms", "at_ms"):
            assert float(row[name]) == getattr(cycle, name)
        assert int(row["committed"]) == len(cycle.committed) and row["clipped"] == str(cycle.clipped)
        assert [int(i) for i in row["committed_ids"].split()] == cycle.committed.tolist()
        assert [int(i) for i in row["drafted_ids"].split()] == cycle.drafted.tolist()


def test_tokens_stand_there_as_text(tmp_path):
    run = make_run(cycles=1)
    cycle = run.cycles[0]
    run.pieces |= {7: "na\udcc3", 8: "\udcafve, \"q\"\n", 9: "=1+1"}
    cycle.committed, cycle.accepted, cycle.anchor = np.array([7, 8, 9], np.int32), 2, 9
    save_csv(tmp_path / "run.csv", run)
    row = rows(tmp_path / "run.csv")[0]
    assert row["accepted_text"] == 'naïve, "q"\n' and row["committed_text"] == 'naïve, "q"\n=1+1'
    assert row["anchor_text"] == "'=1+1"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", " =1", "\t=1", "\n=1", "\u200b=1", "\uff1d1", "\u00a0-2"])
def test_no_cell_is_a_formula(text):
    assert cell(text) == "'" + text


def test_a_formula_in_a_name_of_the_file_is_text_too(tmp_path):
    run = make_run(cycles=1)
    run.cycles[0].walk = "=cmd|' /C calc'!A0"
    save_csv(tmp_path / "run.csv", run)
    assert rows(tmp_path / "run.csv")[0]["walk"] == "'=cmd|' /C calc'!A0"


def test_control_characters_are_written_out_and_long_cells_cut():
    assert cell("a\x00b\rc\n\td") == "a\\x00b\\x0dc\n\td"
    assert cell("x" * 40_000) == "x" * 32_000 + "…"
    assert cell("a = b") == "a = b"


def test_pandas_reads_it(tmp_path):
    run = make_run(slots=6, cycles=5)
    save_csv(tmp_path / "run.csv", run)
    table = pandas.read_csv(tmp_path / "run.csv")
    assert tuple(table.columns) == export.COLUMNS  # the byte-order mark is no part of a name
    assert table.committed.sum() == sum(len(cycle.committed) for cycle in run.cycles)
    assert table.clipped.dtype == bool and table.verify_ms.tolist() == [cycle.verify_ms for cycle in run.cycles]
