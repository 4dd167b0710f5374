"""Runs for other programs: everything as JSON, and the cycles as a table in CSV.

JSON, layout version 1, UTF-8 without any character beyond ASCII:

    {"format": "dcoco-viz run", "version": 1,
     "run": {"id", "name", "created", "finish_reason", "seconds", "ttft_s", "text",
             "request": {...}, "meta": {...}, "prompt_ids": [...], "token_ids": [...],
             "pieces": {"<token id>": "<text>", ...},
             "cycles": [{...}, ...]}}

A run has the fields of `Run`, a cycle those of `Cycle` (trace/schema.py says their units), arrays as nested lists of
the shapes stated there, what was not recorded as null. Numbers are the recorded ones, to the last bit. A
log-probability of minus infinity, which JSON does not have, is null. Pieces are those of trace/pieces.py: a byte 0xE2
that is a part of a character is written \\udce2. `text` is the answer as a reader sees it.

CSV: one row a cycle, UTF-8 with a byte-order mark, which spreadsheets need and pandas takes. Tokens stand there as
text and as ids. A cell that a spreadsheet would take for a formula begins with an apostrophe.
"""

import csv
import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from dcoco_viz.trace.pieces import join
from dcoco_viz.trace.schema import Cycle, Run

FORMAT, VERSION = "dcoco-viz run", 1
CELL = 32_000  # characters; a spreadsheet's cell holds 32,767
COLUMNS = ("cycle", "anchor_position", "anchor", "anchor_text", "method", "walk", "submitted", "accepted", "committed",
           "clipped", "draft_ms", "head_ms", "verify_ms", "at_ms", "accepted_text", "committed_text", "drafted_text",
           "committed_ids", "drafted_ids")  # fmt: skip
_FORMULA = re.compile("[\\s\u200b-\u200f\u2060\ufeff]*[=+\\-@\uff1d\uff0b\uff0d\uff20]")  # also behind what is not seen


def save_json(path: str | os.PathLike, run: Run) -> None:
    """Write a run as JSON."""
    with open(path, "w", encoding="ascii") as file:
        file.writelines(json_parts(run))


def json_parts(run: Run) -> Iterator[str]:
    """The JSON text of a run, in parts of a cycle each: a long run is never held as text."""
    head: dict[str, Any] = {field.name: getattr(run, field.name) for field in fields(Run) if field.name != "cycles"}
    head |= {"request": run.request.model_dump(), "text": run.text}
    opened = json.dumps(head, allow_nan=False)[:-1]
    yield f'{{"format": "{FORMAT}", "version": {VERSION}, "run": {opened}, "cycles": ['
    for number, cycle in enumerate(run.cycles):
        yield (",\n" if number else "\n") + json.dumps(_plain(cycle), allow_nan=False)
    yield "]}}\n"


def _plain(cycle: Cycle) -> dict[str, Any]:
    values = {field.name: getattr(cycle, field.name) for field in fields(Cycle)}
    values = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in values.items()}
    if values["drafted_logprob"] is not None:
        values["drafted_logprob"] = [x if math.isfinite(x) else None for x in values["drafted_logprob"]]
    return values


def save_csv(path: str | os.PathLike, run: Run) -> None:
    """Write the cycles of a run as CSV."""
    with open(path, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(_row(run, cycle) for cycle in run.cycles)


def _row(run: Run, c: Cycle) -> list[Any]:
    def text(ids: Any) -> str:
        return cell(join(run.pieces.get(int(i), "") for i in ids))

    def listed(ids: np.ndarray) -> str:
        return " ".join(map(str, ids.tolist()))

    kept = min(c.accepted, len(c.committed))
    texts = [text(ids) for ids in (c.committed[:kept], c.committed, c.drafted)]
    return [c.index + 1, c.anchor_position, c.anchor, text([c.anchor]), cell(c.method), cell(c.walk), c.submitted,
            c.accepted, len(c.committed), c.clipped, c.draft_ms, c.head_ms, c.verify_ms, c.at_ms, *texts,
            listed(c.committed), listed(c.drafted)]  # fmt: skip


def cell(text: str) -> str:
    """Text that a spreadsheet shows and does not run: no formula, no control character but newline and tab."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", text)
    text = text if len(text) <= CELL else text[:CELL] + "…"
    return "'" + text if _FORMULA.match(text) else text
