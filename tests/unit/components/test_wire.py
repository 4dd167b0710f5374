"""Records carry a run to the browser whole: decode them as it does, and compare."""

import base64
import json

import numpy as np
import orjson
import pytest

from dcoco_viz.components.feed import describe
from dcoco_viz.components.wire import Encoder, opening, walked
from dcoco_viz.methods import METHODS
from dcoco_viz.trace.pieces import to_bytes
from tests.unit.factory import make_run


def numbers(text, dtype, shape):
    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape)


def test_arrays_come_out_as_they_went_in():
    run = make_run(slots=15, pool=16, cycles=4, submit=9)
    for cycle, record in zip(run.cycles, Encoder(run).take(), strict=True):
        shape = tuple(record["shape"])
        assert shape == (15, 16)
        assert np.array_equal(numbers(record["candidates"], "<i4", shape), cycle.candidates)
        assert np.array_equal(numbers(record["logits"], "<f4", shape), cycle.logits)
        assert np.array_equal(numbers(record["lognorm"], "<f4", (15,)), cycle.lognorm)
        rows = numbers(record["walked"], "<f2", (14, 16))
        for p in range(14):
            assert np.array_equal(rows[p], cycle.scores[p, cycle.ranks[p]])
        assert record["committed"] == cycle.committed.tolist()
        assert record["verifier"] == cycle.verifier.tolist()
        assert record["ranks"] == cycle.ranks.tolist()


def test_every_piece_comes_once_and_before_it_is_needed():
    run = make_run(slots=15, pool=16, cycles=6)
    known = dict(opening(run))
    for cycle, record in zip(run.cycles, Encoder(run).take(), strict=True):
        new = {int(i): piece for i, piece in record["pieces"].items()}
        assert not new.keys() & known.keys()
        known |= new
        needed = {cycle.anchor, *cycle.committed, *cycle.candidates.ravel(), *cycle.verifier, *cycle.drafted}
        assert needed <= known.keys()
    assert all(piece.encode("latin-1") == to_bytes(run.pieces[i]) for i, piece in known.items())


def test_an_encoder_that_begins_later_continues_the_first():
    run = make_run(slots=15, pool=16, cycles=6)
    assert Encoder(run, 3).take() == Encoder(run).take()[3:]


def test_a_growing_run_is_sent_once():
    run = make_run(cycles=5)
    later, run.cycles = run.cycles[2:], run.cycles[:2]
    encoder = Encoder(run)
    first = encoder.take()
    run.cycles += later
    assert [record["index"] for record in first + encoder.take()] == [0, 1, 2, 3, 4]
    assert encoder.take() == []


def test_stray_bytes_are_json():
    record = Encoder(make_run(slots=15, pool=16)).take()[0]
    assert orjson.loads(orjson.dumps(record)) == json.loads(json.dumps(record))


def test_plain_steps_and_light_records_have_no_grid():
    for run in (make_run(method="none"), make_run(record="light")):
        for record in Encoder(run).take():
            assert "candidates" not in record and record["committed"]


def test_a_dense_record_has_a_grid_and_no_verdict():
    run = make_run(record="dense", slots=15, pool=16)
    for cycle, record in zip(run.cycles, Encoder(run).take(), strict=True):
        assert record["verifier"] == record["logprob"] == record["drafted"] == [] and record["origins"] == "n"
        assert np.array_equal(numbers(record["candidates"], "<i4", (15, 16)), cycle.candidates)
        assert np.array_equal(numbers(record["walked"], "<f2", (14, 16))[0], cycle.scores[0, cycle.ranks[0]])


def test_origins_are_one_letter_a_token():
    run = make_run(slots=6, cycles=8, seed=3)
    for cycle, record in zip(run.cycles, Encoder(run).take(), strict=True):
        assert len(record["origins"]) == len(record["committed"])
        for i, letter in enumerate(record["origins"]):
            kept = i < cycle.accepted
            assert letter == ("b" if not kept else "d" if cycle.ranks[i] == 0 else "c")


def test_a_path_outside_the_pool_has_no_row():
    cycle = make_run().cycles[0]
    cycle.ranks[1] = -1
    rows = walked(cycle)
    assert np.isnan(rows[1]).all() and not np.isnan(rows[0]).any()


def test_a_record_of_another_writer_may_lack_what_the_verifier_thought():
    run = make_run(slots=4, pool=3)
    for cycle in run.cycles:
        cycle.verifier = cycle.drafted_logprob = cycle.lognorm = None
    for record in Encoder(run).take():
        assert record["verifier"] == record["logprob"] == [] and record["lognorm"] is None


@pytest.mark.parametrize("method", ["domino", "dcoco-anchored", "dcoco"])
def test_what_a_head_said_along_its_path_comes_with_the_record(method):
    run = make_run(slots=15, pool=16, cycles=4, method=method)
    records = Encoder(run).take()
    for cycle, record in zip(run.cycles, records, strict=True):
        assert (record["walked"] is None) == (cycle.scores is None)
        if method == "dcoco":
            assert "corrected" not in record
            continue
        rows = numbers(record["corrected"], "<f4", (15, 16))
        assert np.array_equal(rows, cycle.corrected)
        if cycle.scores is not None:  # the same of both, so that a picture of either is right
            assert np.array_equal(numbers(record["walked"], "<f2", (14, 16)), rows[1:])
    assert max(len(json.dumps({**record, "pieces": {}})) for record in records) < 6_500  # 15 x 16 candidates


def test_the_run_says_what_kind_of_head_it_has():
    kinds = {m: (describe(make_run(method=m))["head"], describe(make_run(method=m))["serial"]) for m in METHODS}
    assert kinds["domino"] == ("domino", True) and kinds["dcoco-anchored"] == ("dcoco", False)
    assert kinds["dflash-long"] == ("", False)
    assert describe(make_run(method="other"))["head"] == ""
