"""Files that are not sound traces: each gives one plain sentence, never another error.

`load` reads in a child process first, which costs half a second, so most cases here go past it to `_read`.
"""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dcoco_viz.trace import files
from dcoco_viz.trace.files import TraceError, load, save
from dcoco_viz.trace.probe import survives
from tests.unit.factory import make_run

IN_TMP = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "good.parquet"
    save(path, [make_run(), make_run(seed=1, method="none")])
    return path


def refuse(path, reason: str, read=files._read) -> None:
    with pytest.raises(TraceError, match=reason) as caught:
        read(path)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250


def rewrite(good, path, *, table=None, meta=None, **options):
    """A copy of the good file with another table, or other metadata (an object, or raw bytes)."""
    file = pq.ParquetFile(good)
    raw = file.metadata.metadata[b"dcoco_viz"]
    if meta is not None:
        raw = meta if isinstance(meta, bytes) else json.dumps(meta).encode()
    table = file.read() if table is None else table
    with pq.ParquetWriter(path, table.schema, store_schema=False, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({b"dcoco_viz": raw})
    return path


def meta_of(good) -> dict:
    return json.loads(pq.ParquetFile(good).metadata.metadata[b"dcoco_viz"])


def with_column(good, name: str, values: list, kind=None) -> pa.Table:
    table = pq.ParquetFile(good).read()
    index = table.column_names.index(name)
    return table.set_column(index, name, pa.array(values, kind or table.schema.field(name).type))


def test_the_copies_below_are_sound_when_nothing_is_changed(good, tmp_path):
    assert len(load(rewrite(good, tmp_path / "t.parquet"))) == 2


def test_files_that_are_no_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    refuse(path, "^t.parquet cannot be read as a trace: there is no such file[.]$", load)
    path.mkdir()
    refuse(path, "there is no such file", load)
    path.rmdir()
    for content in (b"", b"PK\x03\x04 a zip", b'{"version": 1}', "héllo\n".encode() * 100):
        path.write_bytes(content)
        refuse(path, "^it is not a Parquet file$")
    refuse(path, "^t.parquet cannot be read as a trace: it is not a Parquet file[.]$", load)


@IN_TMP
@given(st.binary(max_size=300), st.booleans())
def test_random_bytes(tmp_path, raw, dressed):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1" + raw + b"PAR1" if dressed else raw)
    refuse(path, "cut short or damaged" if path.read_bytes()[:4] == b"PAR1" else "not a Parquet file")


@IN_TMP
@given(st.floats(0, 1, exclude_max=True))
def test_a_file_that_is_cut_short(good, tmp_path, share):
    raw, path = good.read_bytes(), tmp_path / "t.parquet"
    path.write_bytes(raw[: 4 + int(share * (len(raw) - 4))])
    refuse(path, "it is cut short or damaged")


@settings(IN_TMP, max_examples=4)
@given(st.data())
def test_a_damaged_byte_never_raises_anything_else(good, tmp_path, data):
    raw, path = bytearray(good.read_bytes()), tmp_path / "t.parquet"
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(raw)
    try:
        load(path)  # a letter of the prompt may change unseen
    except TraceError as error:
        assert str(error).endswith(".")


def test_damage_that_aborts_the_parquet_library_ends_a_child_only(good, tmp_path):
    """In a column's schema, a repetition type that does not exist: pyarrow calls terminate()."""
    path, intact = tmp_path / "t.parquet", good.read_bytes()
    path.write_bytes(intact.replace(b"%\x02\x18\x07head_ms", b"%\x3d\x18\x07head_ms"))
    assert path.read_bytes() != intact
    assert survives(good) and not survives(path)
    refuse(path, "^t.parquet cannot be read as a trace: it is damaged, or unpacks to more .*[.]$", load)


def test_a_damaged_number_is_noticed(good, tmp_path):
    """Pages carry checksums: the middle of the data is not believed after a change."""
    raw, path = bytearray(good.read_bytes()), tmp_path / "t.parquet"
    group = pq.ParquetFile(good).metadata.row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    column = next(column for column in columns if column.path_in_schema.startswith("scores"))
    raw[column.data_page_offset + column.total_compressed_size - 3] ^= 1
    path.write_bytes(raw)
    refuse(path, "it is cut short or damaged")


def test_parquet_from_elsewhere(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"prompt": ["a"], "prompt_ids": [[1, 2]]}), path)
    refuse(path, "a Parquet file that this app did not write")


def test_other_columns(good, tmp_path):
    path, table = tmp_path / "t.parquet", pq.ParquetFile(good).read()
    refuse(rewrite(good, path, table=table.drop_columns(["ranks"])), "its column ranks is missing")
    refuse(rewrite(good, path, table=table.drop_columns(["method"])), "its column method is missing")
    refuse(
        rewrite(good, path, table=table.append_column("x", pa.nulls(len(table)))), "columns that no trace has"
    )
    strings = with_column(good, "anchor", ["1"] * len(table), pa.string())
    refuse(rewrite(good, path, table=strings), "anchor is missing, doubled or of another type")
    doubled = pa.table([*table.columns, table["run"]], [*table.column_names, "run"])
    refuse(rewrite(good, path, table=doubled), "its column run is missing, doubled")


def test_rows_that_are_not_what_they_state(good, tmp_path):
    path, table = tmp_path / "t.parquet", pq.ParquetFile(good).read()
    n = len(table)
    refuse(rewrite(good, path, table=with_column(good, "run", [0] * (n - 1) + [7])), "belongs to no run")
    refuse(rewrite(good, path, table=with_column(good, "run", [-1] * n)), "belongs to no run")
    refuse(rewrite(good, path, table=with_column(good, "method", [None] * n)), "lacks a value")
    refuse(rewrite(good, path, table=with_column(good, "method", ["x" * 201] * n)), "a name that is too long")
    refuse(rewrite(good, path, table=with_column(good, "drafted", [None] * n)), "row 0 lacks its tokens")
    refuse(rewrite(good, path, table=with_column(good, "verifier", [[1, None]] * n)), "verifier has a gap")
    for name in ("candidates", "logits", "lognorm", "scores", "ranks"):
        short = [None if row is None else row[:-1] for row in table[name].to_pylist()]
        if name == "scores":
            short = [None if row is None else np.array(row, np.float16) for row in short]
        refuse(rewrite(good, path, table=with_column(good, name, short)), "not have the shape it states")
    for b, k in ((None, None), (3, 4), (-5, 3), (2**31 - 1, 2**31 - 1), (0, 0)):
        other = with_column(good, "B", [b] * n)
        other = other.set_column(other.column_names.index("K"), "K", pa.array([k] * n, pa.int32()))
        refuse(rewrite(good, path, table=other), "shape")
    refuse(rewrite(good, path, table=table.slice(1)), "cycle 0 of run 1 is out of order")
    refuse(rewrite(good, path, table=table.slice(0, 0)), "run 1 has .* tokens, its cycles hold 1")


def test_versions(good, tmp_path):
    path, meta = tmp_path / "t.parquet", meta_of(good)
    refuse(
        rewrite(good, path, meta=meta | {"version": 4}), "format 4 and this app reads up to 3: update the app"
    )
    for version in (0, "1", None, -3, 1.5):
        refuse(rewrite(good, path, meta=meta | {"version": version}), "trace format is unknown")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "damaged"),
        (b"\xff\xfe\x00", "damaged"),
        (b"[" * 100_000, "damaged"),
        (b"[]", "damaged"),
        (b"3", "damaged"),
        (b'{"version": 1}', "damaged"),
        (b'{"version": 1, "runs": {}}', "format is unknown"),
        (b'{"version": 3, "runs": []}', "belongs to no run"),
        (b'{"version": 1, "runs": [3]}', "wrong at the top"),
        (b'{"version": 1, "runs": [NaN]}', "damaged"),
        (b'{"version": ' + b"9" * 5000 + b"}", "damaged"),
    ],
)
def test_hostile_metadata(good, tmp_path, raw, reason):
    refuse(rewrite(good, tmp_path / "t.parquet", meta=raw), reason)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"request": None}, "wrong at request"),
        ({"request": {"prompt": "x", "slots": 99}}, "wrong at request.slots"),
        ({"request": {"prompt": "x", "surprise": 1}}, "wrong at request.surprise"),
        ({"token_ids": "abc"}, "wrong at token_ids"),
        ({"token_ids": [1.5]}, "wrong at token_ids.0"),
        ({"token_ids": [-1]}, "wrong at token_ids.0"),
        ({"token_ids": [2**31]}, "wrong at token_ids.0"),
        ({"token_ids": [10**400]}, "wrong at token_ids.0"),
        ({"prompt_ids": [-1]}, "wrong at prompt_ids.0"),
        ({"pieces": {}}, "no text for token"),
        ({"pieces": {"x": "y"}}, "wrong at pieces.x"),
        ({"pieces": {str(2**31): "y"}}, "wrong at pieces"),
        ({"pieces": {"1": 5}}, "wrong at pieces.1"),
        ({"pieces": {"1": "\ud800"}}, "no text for token"),
        ({"id": "x" * 201}, "wrong at id"),
        ({"id": 5}, "wrong at id"),
        ({"finish_reason": "bored"}, "unknown finish reason"),
        ({"seconds": 10**400}, "wrong at seconds|decode time of run 1"),
        ({"seconds": -1}, "decode time of run 1"),
        ({"ttft_s": 1e999}, "damaged"),
        ({"meta": []}, "wrong at meta"),
        ({"meta": {"special_ids": 7}}, "special ids"),
        ({"meta": {"special_ids": [None]}}, "special ids"),
        ({"extra": 1}, "wrong at extra"),
    ],
)
def test_hostile_runs(good, tmp_path, change, reason):
    meta = meta_of(good)
    meta["runs"][0] |= change
    refuse(rewrite(good, tmp_path / "t.parquet", meta=meta), reason)


def test_text_that_is_no_byte_of_a_token(good, tmp_path):
    meta = meta_of(good)
    meta["runs"][0]["pieces"]["1"] = "\ud800"
    refuse(rewrite(good, tmp_path / "t.parquet", meta=meta), "unusable text for token 1")
    meta["runs"][0]["pieces"]["1"] = "x" * 16_385
    refuse(rewrite(good, tmp_path / "t.parquet", meta=meta), "unusable text for token 1")


def test_sizes_are_bounded(good, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    os.truncate(path, files.MAX_FILE + 1)  # sparse
    refuse(path, "larger than 200 MB", load)
    rewrite(good, path)
    for limit in ("MAX_CYCLES", "MAX_VALUES"):
        with monkeypatch.context() as patch:
            patch.setattr(files, limit, 3)
            refuse(path, "unpacks to more than this app holds")
    monkeypatch.setattr(files, "MAX_META", 100)
    refuse(path, "says about its runs is too long")


def test_a_long_name_on_every_row_does_not_unpack(good, tmp_path):
    """1 MB of text in a dictionary, 6 rows: read as six indices, and refused for its length."""
    table = with_column(good, "walk", ["x" * 2**20] * len(pq.ParquetFile(good).read()))
    refuse(
        rewrite(good, tmp_path / "t.parquet", table=table, use_dictionary=["walk"]), "name that is too long"
    )


def test_a_file_of_the_first_format_tells_the_time_from_its_durations(good, tmp_path):
    """Format 1 had no `at_ms`: such a file is one of today without that column."""
    rows = pq.ParquetFile(good).read().drop_columns(["at_ms", "corrected", "confidence"])
    old = rewrite(good, tmp_path / "t.parquet", table=rows, meta=meta_of(good) | {"version": 1})
    for run, read in zip(load(good), load(old), strict=True):
        took = np.cumsum([c.draft_ms + c.verify_ms for c in run.cycles])
        assert [c.at_ms for c in read.cycles] == pytest.approx(took.tolist())
    refuse(rewrite(good, tmp_path / "t.parquet", table=rows), "at_ms is missing")


def test_a_file_of_the_second_format_has_no_corrected_scores(good, tmp_path):
    rows = pq.ParquetFile(good).read().drop_columns(["corrected", "confidence"])
    old = rewrite(good, tmp_path / "t.parquet", table=rows, meta=meta_of(good) | {"version": 2})
    for run, read in zip(load(good), load(old), strict=True):
        assert all(c.corrected is None and c.confidence is None for c in read.cycles)
        assert [c.at_ms for c in read.cycles] == [c.at_ms for c in run.cycles]
    refuse(rewrite(good, tmp_path / "t.parquet", table=rows), "corrected is missing")
    newer = pq.ParquetFile(good).read()
    refuse(rewrite(good, tmp_path / "t.parquet", table=newer, meta=meta_of(good) | {"version": 2}), "no trace has")
