"""Runs as files, at plain addresses: /run/ID.parquet, .json, .csv, .html; several ids, joined by commas, in one file.

Who knows the unguessable id of a run may have it, as with links.
"""

import asyncio
import logging
import re
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from dcoco_viz.report import document
from dcoco_viz.tabs.house import MOST
from dcoco_viz.tabs.links import GONE
from dcoco_viz.trace import export, files
from dcoco_viz.trace.schema import Run
from dcoco_viz.trace.store import Store

log = logging.getLogger(__name__)


class Kind(NamedTuple):
    """A way to write runs into a file."""

    media: str
    most: int  # runs in one file
    write: Callable[[Path, list[Run]], None]


KINDS = {
    "parquet": Kind("application/vnd.apache.parquet", MOST, files.save),
    "html": Kind("text/html; charset=utf-8", MOST, document.save),
    "json": Kind("application/json", 1, lambda path, runs: export.save_json(path, runs[0])),
    "csv": Kind("text/csv; charset=utf-8", 1, lambda path, runs: export.save_csv(path, runs[0])),
}
SAFE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


def serve(app: FastAPI, store: Store) -> None:
    """Add the addresses; before Gradio is mounted, which answers all others."""

    @app.get("/run/{name}")
    async def _file(name: str) -> Response:
        asked, _, ending = name.rpartition(".")
        kind, ids = KINDS.get(ending), list(dict.fromkeys(asked.split(",")))
        if kind is None:
            return _sorry(f"A run can be had as {', '.join(KINDS)}.", 404)
        if len(ids) > kind.most:
            return _sorry(f"A {ending} file holds {kind.most} run{'s' * (kind.most > 1)} at most.", 400)
        runs = [_as_it_is(run) for run in store.some(ids)]
        if len(runs) < len(ids):
            return _sorry(GONE, 404)
        with tempfile.TemporaryDirectory(prefix="dcoco-viz-") as folder:
            path = Path(folder) / "file"
            try:
                await asyncio.to_thread(kind.write, path, runs)
            except ValueError:  # TraceError, or a number that JSON does not have
                log.exception("a run could not be written")
                return _sorry("This run is not sound, so that no file can be made of it.", 422)
            size, file = path.stat().st_size, path.open("rb")  # what is open can be read without its name
        given = quote(f"{file_name(runs)}.{ending}")
        headers = SAFE | {"Content-Disposition": f"attachment; filename*=UTF-8''{given}", "Content-Length": str(size)}
        return StreamingResponse(_parts(file), media_type=kind.media, headers=headers)


async def _parts(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while part := await asyncio.to_thread(file.read, 2**18):
            yield part


def file_name(runs: list[Run]) -> str:
    """A safe name without ending: the only run's own, else the methods and the first id."""
    given = re.sub(r"[^\w.()+-]+", "-", runs[0].name)[:80].strip("-.") if len(runs) == 1 else ""
    methods = "-".join(re.sub(r"[^\w-]+", "-", run.request.method)[:40] for run in runs)
    return given or f"{methods}-{runs[0].id[:8]}"


def _as_it_is(run: Run) -> Run:
    """The run at this moment: while it is written, in a thread, it may grow."""
    return replace(run, token_ids=list(run.token_ids), cycles=list(run.cycles), pieces=dict(run.pieces))


def _sorry(sentence: str, status: int) -> Response:
    return PlainTextResponse(sentence, status, headers=SAFE)
