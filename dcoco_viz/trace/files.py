"""Traces in Parquet: one file holds one or more runs, one row a cycle.

The columns: trace/columns.py. What belongs to a whole run is JSON under the key `dcoco_viz` of the file's
metadata, with a format version; a run without cycles lives there alone. Nothing in a file is executed, and
nothing is believed unchecked.
"""

import json
import os
import tempfile
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dcoco_viz.trace.check import MAX_CYCLES, TraceError, check
from dcoco_viz.trace.columns import NAMES, SCHEMA, SINCE, cast, fill, table
from dcoco_viz.trace.probe import survives
from dcoco_viz.trace.schema import Request, Run

VERSION = 3
KEY = b"dcoco_viz"
MAX_FILE = 200 * 2**20  # bytes
MAX_META = 32 * 2**20  # bytes of JSON
MAX_VALUES = 160_000_000  # numbers in all columns: what a full-sized file unpacks to, and no bomb beyond it


_TokenId = Annotated[int, Field(ge=0, lt=2**31)]


class _RunData(BaseModel):
    """A Run without its cycles, as JSON."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(max_length=200)
    request: Request
    prompt_ids: list[_TokenId]
    token_ids: list[_TokenId]
    pieces: dict[_TokenId, str]
    finish_reason: str | None
    seconds: float
    ttft_s: float
    created: str = Field(max_length=200)
    name: str = Field("", max_length=200)
    meta: dict[str, Any]


def save(path: str | os.PathLike, runs: list[Run]) -> None:
    """Write runs to a Parquet file, whole or not at all.

    Raises:
        TraceError: a run is unsound (trace/check.py), its meta is not JSON, or the file cannot be written.
    """
    try:
        runs = [_cast(run) for run in runs]
        check(runs)
        meta = json.dumps({"version": VERSION, "runs": [_run_data(run) for run in runs]}, allow_nan=False)
    except (TraceError, ValueError, TypeError) as error:
        raise TraceError(f"This cannot be saved as a trace: {error}.") from error
    path = Path(path)
    try:
        _write(path, table(runs), meta.encode())
    except OSError as error:
        raise TraceError(f"{path} cannot be written: {error.strerror or error}.") from error


def _write(path: Path, rows: pa.Table, meta: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            # store_schema would copy the metadata a second time
            with pq.ParquetWriter(
                file,
                SCHEMA,
                compression="zstd",
                use_dictionary=NAMES,
                store_schema=False,
                write_page_checksum=True,
            ) as writer:
                writer.write_table(rows)
                writer.add_key_value_metadata({KEY: meta})
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike) -> list[Run]:
    """Read the runs of a trace. Ids are the file's: whoever serves runs by id must give them new ones.

    Raises:
        TraceError: one plain sentence, when the file is not a sound trace.
    """
    path = Path(path)
    try:
        if not path.is_file():
            raise TraceError("there is no such file")
        if path.stat().st_size > MAX_FILE:
            raise TraceError(f"it is larger than {MAX_FILE // 2**20} MB")
        if not survives(path):
            raise TraceError("it is damaged, or unpacks to more than this app holds")
        return _read(path)
    except TraceError as error:
        raise TraceError(f"{path.name} cannot be read as a trace: {error}.") from error


def _read(path: Path) -> list[Run]:
    try:
        layout = pq.read_metadata(path)
        meta = (layout.metadata or {}).get(KEY)
        if meta is None:
            raise TraceError("it is a Parquet file that this app did not write")
        version, runs = _runs(meta)
        _check_layout(layout, version)
        # dictionary-encoded text stays so: a long string on every row must not unpack
        file = pq.ParquetFile(path, read_dictionary=NAMES, page_checksum_verification=True)
        rows = file.read(use_threads=False)
        rows.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        if isinstance(error, TraceError):
            raise
        raise TraceError(_why_unreadable(path)) from error
    fill(runs, rows)
    check(runs)
    return runs


def _why_unreadable(path: Path) -> str:
    with open(path, "rb") as file:
        return "it is cut short or damaged" if file.read(4) == b"PAR1" else "it is not a Parquet file"


def _check_layout(layout: pq.FileMetaData, version: int) -> None:
    columns = layout.schema.to_arrow_schema()
    expected = [field for field in SCHEMA if SINCE.get(field.name, 1) <= version]
    for field in expected:
        if columns.names.count(field.name) != 1 or columns.field(field.name).type != field.type:
            raise TraceError(f"its column {field.name} is missing, doubled or of another type")
    if len(columns) != len(expected):
        raise TraceError("it has columns that no trace has")
    groups = [layout.row_group(i) for i in range(layout.num_row_groups)]
    chunks = [group.column(i) for group in groups for i in range(group.num_columns)]
    values, unpacked = sum(c.num_values for c in chunks), sum(c.total_uncompressed_size for c in chunks)
    if layout.num_rows > MAX_CYCLES or values > MAX_VALUES or unpacked > 8 * MAX_VALUES:
        raise TraceError("it unpacks to more than this app holds")


def _run_data(run: Run) -> dict[str, Any]:
    data = {name: getattr(run, name) for name in _RunData.model_fields}
    return data | {"request": run.request.model_dump()}


def _runs(meta: bytes) -> tuple[int, list[Run]]:
    if len(meta) > MAX_META:
        raise TraceError("what it says about its runs is too long")
    try:
        data = json.loads(meta, parse_constant=_no_constant)
        version, runs = data["version"], data["runs"]
        if type(version) is int and version > VERSION:
            raise TraceError(
                f"it has trace format {version} and this app reads up to {VERSION}: update the app"
            )
        if type(version) is not int or version < 1 or type(runs) is not list:
            raise TraceError("its trace format is unknown")
        return version, [_run(_RunData.model_validate(run)) for run in runs]
    except TraceError:
        raise
    except ValidationError as error:
        where = ".".join(str(part)[:40] for part in error.errors()[0]["loc"])
        raise TraceError(f"what it says about a run is wrong at {where or 'the top'}") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TraceError("what it says about its runs is damaged") from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _run(data: _RunData) -> Run:
    return Run(**{name: getattr(data, name) for name in _RunData.model_fields})


def _cast(run: Run) -> Run:
    """The run with arrays of the types that a file holds: what is checked is what is written."""
    return Run(
        **{name: getattr(run, name) for name in _RunData.model_fields}, cycles=list(map(cast, run.cycles))
    )
