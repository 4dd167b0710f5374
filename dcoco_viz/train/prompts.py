"""Prompts to regenerate answers for: from JSON lines, Parquet or a dataset of the Hugging Face hub."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from dcoco_viz.train.data import DataError


class Prompt(NamedTuple):
    """What a user would say, and where it comes from."""

    source: str
    text: str


def read(place: str, column: str, source: str, split: str, say: Callable[[str], None]) -> Iterator[Prompt]:
    """Prompts in the order of the file. A row that cannot be used is named by its number and left out.

    Args:
        place: a .jsonl or .parquet file, or a hub id.
        column: the field that holds the prompt: a string, or a list whose first entry is the first turn, as a string
            or as a message with `content`.
        source: name of the source, where a row has no field `source` of its own; by default the file's or dataset's.
        split: of a hub dataset.

    Raises:
        DataError: there is no such file or dataset, or no row of it can be used.
    """
    path, used, first = Path(place), 0, ""
    for number, row in enumerate(_rows(place, split), 1):
        try:
            text = _text(row[column])
            text.encode()
        except (TypeError, KeyError, IndexError, UnicodeEncodeError):
            keys = ", ".join(row) if isinstance(row, dict) else "no fields"
            first = first or f"row {number} has no text in {column!r} (it has {keys}): name the field with --column"
            say(f"row {number} of {place} left out: no text in {column!r}")
            continue
        used += 1
        yield Prompt(str(row.get("source") or source or path.stem), text)
    if not used:
        raise DataError(f"{place} holds no prompt: {first or 'it is empty'}")


def _text(value) -> str:
    """The first user turn in a prompt's field; KeyError where there is none."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, dict):
        value = [value]
    if value is None or isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        raise KeyError
    turns = [turn for turn in value if not isinstance(turn, dict) or turn.get("role", "user") in ("user", "human")]
    return _text(turns[0].get("content") if isinstance(turns[0], dict) else turns[0])


def _rows(place: str, split: str) -> Iterator[object]:
    path = Path(place)
    if path.suffix == ".jsonl" and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in filter(str.strip, lines):
                try:
                    yield json.loads(line)
                except json.JSONDecodeError:
                    yield None
    elif path.suffix == ".parquet" and path.is_file():
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            yield from pq.read_table(path).to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{place} is not a readable Parquet file: {error}") from error
    elif path.suffix in (".jsonl", ".parquet") or path.exists():
        raise DataError(f"{place} is no .jsonl or .parquet file here")
    else:
        yield from _hub(place, split)


def _hub(name: str, split: str) -> Iterator[object]:
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise DataError(f"{name} is no file here; to read it from the hub: pip install datasets") from error
    try:
        yield from load_dataset(name, split=split, streaming=True)
    except Exception as error:
        raise DataError(f"The dataset {name} cannot be read: {error}") from error
