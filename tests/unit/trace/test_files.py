from dataclasses import fields

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dcoco_viz.trace.files import TraceError, load, save
from dcoco_viz.trace.files import _read as read
from dcoco_viz.trace.pieces import from_bytes
from dcoco_viz.trace.schema import Cycle, Run
from tests.unit.factory import make_run

RUNS = st.builds(
    make_run,
    slots=st.integers(1, 6),
    pool=st.integers(1, 5),
    cycles=st.integers(0, 4),
    method=st.sampled_from(["none", "dflash", "dcoco", "dcoco-anchored", "domino", "dspark", "selector"]),
    record=st.sampled_from(["off", "light", "full"]),
    head=st.booleans(),
    submit=st.sampled_from([None, 1]),
    cut=st.integers(0, 3),
    prompt=st.integers(0, 3),
    seed=st.integers(0, 10_000),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
IN_TMP = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def assert_same(a: Run, b: Run) -> None:
    for field in fields(Run):
        if field.name != "cycles":
            assert getattr(a, field.name) == getattr(b, field.name), field.name
    assert len(a.cycles) == len(b.cycles)
    for x, y in zip(a.cycles, b.cycles, strict=True):
        for field in fields(Cycle):
            u, v = getattr(x, field.name), getattr(y, field.name)
            if isinstance(u, np.ndarray):
                assert u.dtype == v.dtype and u.shape == v.shape and np.array_equal(u, v), field.name
            else:
                assert type(u) is type(v) and u == v, field.name


@IN_TMP
@given(st.lists(RUNS, min_size=1, max_size=3), st.dictionaries(st.text(), JSON, max_size=3))
@example([make_run(slots=1, pool=1)], {})  # scores of shape [0, 1, 1]
@example([make_run(cycles=0)], {})
@example([make_run(slots=1, method="dcoco-anchored"), make_run(method="domino"), make_run()], {})
@example([make_run(cycles=0), make_run(slots=15, pool=16), make_run(slots=2, pool=5, head=False)], {})
def test_what_is_saved_is_loaded(tmp_path, runs, meta):
    runs[0].meta = meta | {"special_ids": [1]}
    save(tmp_path / "t.parquet", runs)
    for before, after in zip(runs, read(tmp_path / "t.parquet"), strict=True):
        assert_same(before, after)


@IN_TMP
@given(st.lists(st.binary(max_size=8), min_size=1, max_size=20))
def test_any_bytes_of_a_token_survive(tmp_path, raw):
    run = make_run()
    run.pieces |= {100 + i: from_bytes(r) for i, r in enumerate(raw)}
    save(tmp_path / "t.parquet", [run])
    assert read(tmp_path / "t.parquet")[0].pieces == run.pieces


def test_load_reads_what_save_wrote(tmp_path):
    runs = [make_run(slots=15, pool=16, cycles=20), make_run(method="none")]
    save(tmp_path / "t.parquet", runs)
    for before, after in zip(runs, load(str(tmp_path / "t.parquet")), strict=True):
        assert_same(before, after)


def test_an_empty_run_and_a_stopped_one_survive(tmp_path):
    empty, stopped = make_run(cycles=0), make_run(cycles=0)
    empty.token_ids, empty.finish_reason, stopped.finish_reason = [], "abort", "abort"
    save(tmp_path / "t.parquet", [empty, stopped])
    assert [len(run.token_ids) for run in read(tmp_path / "t.parquet")] == [0, 1]


def test_a_drafted_token_that_sampling_ruled_out_has_probability_zero(tmp_path):
    run = make_run()
    run.cycles[0].drafted_logprob[0] = -np.inf
    save(tmp_path / "t.parquet", [run])
    assert read(tmp_path / "t.parquet")[0].cycles[0].drafted_logprob[0] == -np.inf


def test_scores_are_stored_in_half_precision(tmp_path):
    run = make_run()
    run.cycles[0].scores = run.cycles[0].scores.astype(np.float32) + 1e-4
    save(tmp_path / "t.parquet", [run])
    scores = read(tmp_path / "t.parquet")[0].cycles[0].scores
    assert scores.dtype == np.float16
    np.testing.assert_array_equal(scores, run.cycles[0].scores.astype(np.float16))


def test_one_row_a_cycle_in_zstd_and_the_text_once(tmp_path):
    runs = [make_run(cycles=3), make_run(cycles=2, seed=1)]
    save(tmp_path / "t.parquet", runs)
    file = pq.ParquetFile(tmp_path / "t.parquet")
    assert file.metadata.num_rows == 5
    assert file.read()["run"].to_pylist() == [0, 0, 0, 1, 1]
    group = file.metadata.row_group(0)
    assert {group.column(i).compression for i in range(group.num_columns)} == {"ZSTD"}
    assert list(file.metadata.metadata) == [b"dcoco_viz"]


def test_an_unsound_run_leaves_the_file_that_was_there(tmp_path):
    path = tmp_path / "t.parquet"
    save(path, [make_run()])
    before = path.read_bytes()
    run = make_run()
    run.token_ids.append(1)
    with pytest.raises(TraceError, match="^This cannot be saved as a trace: run 1 has .* tokens, its"):
        save(path, [run])
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("value", [object(), float("nan")])
def test_meta_that_is_not_json_is_refused(tmp_path, value):
    run = make_run()
    run.meta["x"] = value
    with pytest.raises(TraceError, match="cannot be saved"):
        save(tmp_path / "t.parquet", [run])
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    target = tmp_path / "folder"
    (target / "inside").mkdir(parents=True)
    with pytest.raises(TraceError, match="folder cannot be written: Is a directory[.]$"):
        save(target, [make_run()])
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(TraceError, match="cannot be written: No such file or directory[.]$"):
        save(tmp_path / "nowhere" / "t.parquet", [make_run()])


def test_nothing_to_save_is_said(tmp_path):
    with pytest.raises(TraceError, match="it holds no run"):
        save(tmp_path / "t.parquet", [])
