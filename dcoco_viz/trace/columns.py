"""Cycles as the columns of a table, one row a cycle, and back.

Columns are the fields of `Cycle`, plus `run` (which run of the file), and B and K (the shapes of the lists).
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from dcoco_viz.trace.check import TraceError
from dcoco_viz.trace.schema import Cycle, Run

NAMES = ["request_id", "method", "walk"]  # text columns, dictionary-encoded
_SCALARS = {
    "request_id": pa.string(),
    "index": pa.int32(),
    "anchor_position": pa.int32(),
    "anchor": pa.int32(),
    "method": pa.string(),
    "walk": pa.string(),
    "submitted": pa.int32(),
    "accepted": pa.int32(),
    "draft_ms": pa.float64(),
    "head_ms": pa.float64(),
    "verify_ms": pa.float64(),
    "at_ms": pa.float64(),
    "clipped": pa.bool_(),
}
# column -> (dtype, shape given B and K); -1 is a length the row itself tells
_ARRAYS: dict[str, tuple[type, Callable[[int, int], tuple[int, ...]]]] = {
    "drafted": (np.int32, lambda b, k: (-1,)),
    "committed": (np.int32, lambda b, k: (-1,)),
    "candidates": (np.int32, lambda b, k: (b, k)),
    "logits": (np.float32, lambda b, k: (b, k)),
    "lognorm": (np.float32, lambda b, k: (b,)),
    "scores": (np.float16, lambda b, k: (b - 1, k, k)),
    "corrected": (np.float32, lambda b, k: (b, k)),
    "confidence": (np.float32, lambda b, k: (b,)),
    "ranks": (np.int16, lambda b, k: (b,)),
    "verifier": (np.int32, lambda b, k: (-1,)),
    "drafted_logprob": (np.float32, lambda b, k: (-1,)),
}
SCHEMA = pa.schema(
    [("run", pa.int32()), *_SCALARS.items(), ("B", pa.int32()), ("K", pa.int32())]
    + [(name, pa.list_(pa.from_numpy_dtype(dtype))) for name, (dtype, _) in _ARRAYS.items()]
)


# column -> trace format that brought it, where it is not the first
SINCE = {"at_ms": 2, "corrected": 3, "confidence": 3}


def cast(cycle: Cycle) -> Cycle:
    """The cycle with arrays of the column types."""
    values = {name: getattr(cycle, name) for name in (*_SCALARS, *_ARRAYS)}
    for name, (dtype, _) in _ARRAYS.items():
        if values[name] is not None:
            with np.errstate(over="ignore"):  # an overflow is an infinity, which the check names
                values[name] = np.asarray(values[name]).astype(dtype, copy=False)
    return Cycle(**values)


def table(runs: list[Run]) -> pa.Table:
    """The cycles of runs as rows."""
    rows = [(number, cycle) for number, run in enumerate(runs) for cycle in run.cycles]
    shapes = [(None, None) if c.candidates is None else c.candidates.shape for _, c in rows]
    columns: dict[str, list] = {"run": [number for number, _ in rows]}
    columns |= {name: [getattr(cycle, name) for _, cycle in rows] for name in _SCALARS}
    columns |= {"B": [b for b, _ in shapes], "K": [k for _, k in shapes]}
    for name in _ARRAYS:
        arrays = (getattr(cycle, name) for _, cycle in rows)
        columns[name] = [None if array is None else array.ravel() for array in arrays]
    return pa.table(
        {field.name: pa.array(columns[field.name], field.type) for field in SCHEMA}, schema=SCHEMA
    )


def fill(runs: list[Run], rows: pa.Table) -> None:
    """Append the rows of a table to their runs as cycles."""
    if "at_ms" not in rows.column_names:
        rows = rows.append_column("at_ms", pa.array(_elapsed(rows), pa.float64()))
    for name in ("corrected", "confidence"):
        if name not in rows.column_names:
            rows = rows.append_column(name, pa.nulls(len(rows), SCHEMA.field(name).type))
    scalars = {name: rows[name].to_pylist() for name in ("run", *_SCALARS)}
    shapes = list(zip(rows["B"].to_pylist(), rows["K"].to_pylist(), strict=True))
    if any((b, k) != (None, None) and not (b and k and b > 0 and k > 0) for b, k in shapes):
        raise TraceError("it states a shape that is none")
    arrays = {name: _arrays(rows[name].combine_chunks(), shapes, name) for name in _ARRAYS}
    for row, number in enumerate(scalars.pop("run")):
        if any(column[row] is None for column in scalars.values()) or number not in range(len(runs)):
            raise TraceError(f"row {row} lacks a value or belongs to no run")
        if arrays["drafted"][row] is None or arrays["committed"][row] is None:
            raise TraceError(f"row {row} lacks its tokens")
        if max(len(scalars[name][row]) for name in NAMES) > 200:
            raise TraceError(f"row {row} has a name that is too long")
        values = {name: column[row] for name, column in (scalars | arrays).items()}
        runs[number].cycles.append(Cycle(**values))


def _elapsed(rows: pa.Table) -> list[float | None]:
    """`at_ms` of files that lack it: what the cycles so far took together, the engine's own overhead left out."""
    elapsed: dict[int | None, float] = {}
    out = []
    for run, *parts in zip(*(rows[name].to_pylist() for name in ("run", "draft_ms", "verify_ms")), strict=True):
        elapsed[run] = elapsed.get(run, 0.0) + sum(ms or 0.0 for ms in parts)
        out.append(elapsed[run])
    return out


def _arrays(
    column: pa.ListArray, shapes: list[tuple[int | None, int | None]], name: str
) -> list[np.ndarray | None]:
    """The rows of a list column as arrays of their own shapes."""
    dtype, shape = _ARRAYS[name]
    if column.values.null_count:
        raise TraceError(f"its column {name} has a gap")
    flat = column.values.to_numpy(zero_copy_only=False).astype(dtype, copy=False)
    offsets, present = column.offsets.to_numpy(), column.is_valid().to_numpy(zero_copy_only=False)
    out: list[np.ndarray | None] = []
    for row, (b, k) in enumerate(shapes):
        if not present[row]:
            out.append(None)
            continue
        try:
            size = shape(b, k)  # TypeError where B is missing
            out.append(flat[offsets[row] : offsets[row + 1]].reshape(size).copy())
        except (ValueError, TypeError) as error:
            raise TraceError(f"row {row} of its column {name} does not have the shape it states") from error
    return out
