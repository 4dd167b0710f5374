"""The training file: reading it, holding prompts out, and finding where a response starts to loop."""

import hashlib
import json
import random
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = ("source", "prompt", "prompt_ids", "response_ids")
HELD_OUT_PERCENT = 5
LOOP_NGRAM = 16
LOOP_TAIL = 8  # tokens kept past a loop's onset: enough to see it start, not enough to be flattered by it


class DataError(ValueError):
    """The data file cannot be used; the message says what to do."""


class Example(NamedTuple):
    """One prompt and what the verifier itself answered to it, greedily."""

    source: str
    prompt: str
    prompt_ids: list[int]
    response_ids: list[int]


def read(path: Path, vocab_size: int) -> list[Example]:
    """Read and check a Parquet file with the columns source, prompt, prompt_ids, response_ids.

    Raises:
        DataError: the file is missing, unreadable or empty, lacks a column, or holds unknown token ids.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path} does not exist: give --data a Parquet file")
    try:
        table = pd.read_parquet(path)
    except Exception as error:
        raise DataError(f"{path} is not a readable Parquet file: {error}") from error
    missing = [c for c in COLUMNS if c not in table.columns]
    if missing:
        raise DataError(f"{path} lacks the column(s) {', '.join(missing)}; it must have {', '.join(COLUMNS)}")
    if table.empty:
        raise DataError(f"{path} has no rows")
    examples = []
    for number, row in enumerate(table[list(COLUMNS)].itertuples(index=False)):
        try:
            prompt_ids, response_ids = [int(t) for t in row.prompt_ids], [int(t) for t in row.response_ids]
        except (TypeError, ValueError):
            raise DataError(f"row {number} of {path}: prompt_ids and response_ids must be lists of token ids") from None
        if not prompt_ids or not response_ids:
            raise DataError(f"row {number} of {path}: prompt_ids and response_ids must not be empty")
        if min(prompt_ids + response_ids) < 0 or max(prompt_ids + response_ids) >= vocab_size:
            raise DataError(f"row {number} of {path} holds token ids outside 0..{vocab_size - 1}: another tokenizer?")
        examples.append(Example(str(row.source), str(row.prompt), prompt_ids, response_ids))
    return examples


def check_author(path: Path, weights: str) -> None:
    """Refuse a file that says that another verifier wrote it; one that says nothing is taken as it is.

    Args:
        weights: `verifier.fingerprint` of the verifier to train for.

    Raises:
        DataError: another one wrote it.
    """
    try:
        said = json.loads((pq.read_schema(path).metadata or {}).get(b"dcoco_viz", b"{}"))
    except (OSError, ValueError, pa.ArrowException):
        return  # `read` says what is wrong
    if said.get("verifier", weights) != weights:
        raise DataError(
            f"{path} was written by another verifier ({said['verifier'][:12]}…, this one is {weights[:12]}…): "
            "a drafter learns its own verifier's words, so regenerate the answers with this one"
        )


def held_out(prompt: str) -> bool:
    """True for the share of prompts that training never sees; depends on the prompt's text alone."""
    return int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:8], "big") % 100 < HELD_OUT_PERCENT


def split(examples: list[Example]) -> tuple[list[Example], list[Example]]:
    """Return (training, held-out) examples, each interleaved over the sources in a fixed random order."""
    parts = ([e for e in examples if not held_out(e.prompt)], [e for e in examples if held_out(e.prompt)])
    return _interleave(parts[0]), _interleave(parts[1])


def _interleave(examples: list[Example]) -> list[Example]:
    by_source: dict[str, list[Example]] = {}
    for example in sorted(examples, key=lambda e: (e.source, e.prompt)):
        by_source.setdefault(example.source, []).append(example)
    for rows in by_source.values():
        random.Random(0).shuffle(rows)
    longest = max(map(len, by_source.values()), default=0)
    return [rows[i] for i in range(longest) for rows in by_source.values() if i < len(rows)]


def repeats(ids: list[int], n: int = LOOP_NGRAM) -> list[bool]:
    """Mark every token that lies in an n-gram already seen earlier in the same list: the loop tokens."""
    seen, marks = set(), [False] * len(ids)
    for i in range(len(ids) - n + 1):
        gram = tuple(ids[i : i + n])
        if gram in seen:
            marks[i : i + n] = [True] * n
        seen.add(gram)
    return marks


def cut_loop(response_ids: list[int]) -> list[int]:
    """The response up to a little past the onset of its first loop; all of it when it never loops."""
    marks = repeats(response_ids)
    return response_ids[: marks.index(True) + LOOP_TAIL] if True in marks else response_ids


def without_loops(examples: list[Example]) -> list[Example]:
    """The same examples with every response cut at its first loop."""
    return [e._replace(response_ids=cut_loop(e.response_ids)) for e in examples]
