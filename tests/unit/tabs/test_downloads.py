"""Runs as files, by plain HTTP."""

import asyncio
import csv
import io
import json
import threading
from urllib.parse import unquote

import httpx
import pytest
from fastapi import FastAPI

from dcoco_viz.tabs import downloads
from dcoco_viz.tabs.downloads import file_name
from dcoco_viz.tabs.links import GONE
from dcoco_viz.trace import files
from dcoco_viz.trace.store import Store
from tests.unit.factory import make_run

TYPES = {
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
}


@pytest.fixture
def served():
    app, store = FastAPI(), Store()
    downloads.serve(app, store)
    runs = [make_run(seed=seed, cycles=4) for seed in range(5)]
    for run in runs:
        store.put(run, "ann")
    transport = httpx.ASGITransport(app)
    return httpx.AsyncClient(transport=transport, base_url="http://here"), runs


@pytest.mark.parametrize("ending", TYPES)
async def test_each_kind_has_its_type_and_name(served, ending):
    client, runs = served
    answer = await client.get(f"/run/{runs[0].id}.{ending}")
    assert answer.status_code == 200 and answer.headers["content-type"] == TYPES[ending]
    assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''dcoco-run-0.{ending}"
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_what_is_downloaded_is_the_run(served, tmp_path):
    client, runs = served
    (tmp_path / "two.parquet").write_bytes((await client.get("/run/run-1,run-0.parquet")).content)
    assert [run.id for run in files.load(tmp_path / "two.parquet")] == ["run-1", "run-0"]
    assert (await client.get("/run/run-2.json")).json()["run"]["token_ids"] == runs[2].token_ids
    rows = list(csv.DictReader(io.StringIO((await client.get("/run/run-3.csv")).text.lstrip("\ufeff"))))
    assert [int(row["accepted"]) for row in rows] == [cycle.accepted for cycle in runs[3].cycles]


@pytest.mark.parametrize(
    ("name", "status", "sentence"),
    [
        ("guess.parquet", 404, GONE),
        ("run-0,guess.html", 404, GONE),
        (".json", 404, GONE),
        ("run-0", 404, "A run can be had as parquet, html, json, csv."),
        ("run-0.exe", 404, "A run can be had as parquet, html, json, csv."),
        ("run-0,run-1.json", 400, "A json file holds 1 run at most."),
        ("run-0,run-1,run-2,run-3,run-4.parquet", 400, "A parquet file holds 4 runs at most."),
    ],
)
async def test_what_cannot_be_had_is_said(served, name, status, sentence):
    answer = await served[0].get(f"/run/{name}")
    assert (answer.status_code, answer.text) == (status, sentence)
    assert answer.headers["content-type"].startswith("text/plain")


async def test_an_unsound_run_is_said(served):
    client, runs = served
    runs[0].token_ids.append(1)
    runs[1].meta["x"] = float("nan")
    for name in ("run-0.parquet", "run-1.json"):
        answer = await client.get(f"/run/{name}")
        assert answer.status_code == 422 and "not sound" in answer.text


async def test_the_server_goes_on_while_a_file_is_written(served, monkeypatch):
    client, _ = served
    written = threading.Event()

    def slow(path, runs):
        assert written.wait(30)
        path.write_text("done")

    monkeypatch.setitem(downloads.KINDS, "parquet", downloads.KINDS["parquet"]._replace(write=slow))
    waiting = asyncio.create_task(client.get("/run/run-0.parquet"))
    assert json.loads((await client.get("/run/run-1.json")).text)["run"]["id"] == "run-1"
    assert not waiting.done()
    written.set()
    assert (await waiting).text == "done"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("", "dcoco-run-0"),
        ("my run", "my-run"),
        ("../../etc/passwd", "etc-passwd"),
        ('a"; x=\r\nSet-Cookie: b', "a-x-Set-Cookie-b"),
        ("naïve 北京", "naïve-北京"),
        ("...", "dcoco-run-0"),
        ("x" * 200, "x" * 80),
    ],
)
async def test_names_of_files_are_safe(served, given, wanted):
    client, runs = served
    runs[0].name = given
    assert file_name(runs[:1]) == wanted
    header = (await client.get("/run/run-0.csv")).headers["content-disposition"]
    assert unquote(header) == f"attachment; filename*=UTF-8''{wanted}.csv"


def test_several_runs_are_named_by_their_methods(served):
    assert file_name([make_run(), make_run(method="dflash", seed=1)]) == "dcoco-dflash-run-0"
