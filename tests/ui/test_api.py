"""What programs ask of a running app, over JSON and over MCP, without an engine: recorded runs."""

import asyncio
import json
import re
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gradio_client import Client
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from dcoco_viz.lab.replay import replay as replayed
from dcoco_viz.methods import METHODS
from dcoco_viz.metrics.coverage import coverage


@pytest.fixture(scope="module")
def client(replay):
    return Client(replay, verbose=False, httpx_kwargs={"timeout": 120})


@pytest.fixture
def ids(visit, replay):
    page = visit(replay)
    page.wait_for_function("dcoco.lanes.a.run && dcoco.lanes.b.run")
    return page.evaluate("[dcoco.lanes.a.run.id, dcoco.lanes.b.run.id]")


def test_coverage_is_that_of_the_metrics(client, ids, recorded):
    found = client.predict(runs=ids, api_name="/coverage")
    share, counts = coverage(recorded[1])
    assert found["counts"] == counts.tolist()
    for k, row in share.items():
        assert np.allclose(np.array(found["coverage"][str(k)], float), row, equal_nan=True)


@pytest.mark.parametrize("walk", ["greedy", "global-sum", "beam:4+k:8"])
def test_a_walk_is_replayed(client, ids, recorded, walk):
    found = client.predict(run=ids[0], walk=walk, slots=7, api_name="/replay_walk")
    [wanted] = replayed(recorded[1][0], [walk], slots=7)
    assert found["accepted"] == wanted.accepted.tolist() and found["mean_accepted"] == pytest.approx(wanted.mean)
    assert found["cycles"] == wanted.cycles.tolist()


@pytest.mark.parametrize(
    ("name", "asked", "sentence"),
    [
        ("/coverage", {"runs": ["guess"]}, "There is no run 'guess' on this server."),
        ("/replay_walk", {"run": "guess"}, "There is no run 'guess' on this server."),
        ("/generate", {"prompt": "Hello"}, "There is no engine behind this app"),
        ("/compare", {"prompt": "Hello", "ways": [{"method": "dcoco"}]}, "Compare two to 4 ways"),
        ("/compare", {"prompt": "Hello", "ways": [{"colour": 1}, {}]}, 'A way is an object with "method"'),
        ("/generate", {"prompt": 5}, "prompt: Input should be a valid string."),
        ("/compare", {"prompt": "Hello", "repeat": 1.5}, "repeat: Input should be a valid integer"),
        ("/coverage", {"runs": "guess"}, "runs: Input should be a valid list."),
        ("/coverage", {"runs": [["guess"]]}, "runs[0]: Input should be a valid string."),
        ("/coverage", {"runs": []}, "Name at least one run."),
        ("/replay_walk", {"run": "guess", "slots": 2.5}, "slots: Input should be a valid integer"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(client, name, asked, sentence):
    with pytest.raises(Exception, match=re.escape(sentence)):
        client.predict(**asked, api_name=name)


def test_without_a_client_the_defaults_hold(replay, ids):
    """As docs/api.md says it."""

    def call(address, body=None):
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(f"{replay}gradio_api/{address}", data, {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=30).read().decode()

    event = json.loads(call("call/v2/replay_walk", {"run": ids[0]}))["event_id"]
    answer = call(f"call/replay_walk/{event}")
    assert "event: complete" in answer and '"walk": "greedy"' in answer


def test_a_wrong_walk_is_one_sentence(client, ids):
    with pytest.raises(Exception, match="walk"):
        client.predict(run=ids[0], walk="zigzag", api_name="/replay_walk")
    with pytest.raises(Exception, match="Slots must be a number from 1 to 15"):
        client.predict(run=ids[0], slots=99, api_name="/replay_walk")


def test_the_same_functions_are_tools(replay, ids, recorded):
    async def ask():
        async with streamable_http_client(f"{replay}mcp/") as (read, write, *_), ClientSession(read, write) as session:
            await session.initialize()
            return (
                (await session.list_tools()).tools,
                await session.call_tool("replay_walk", {"run": ids[0]}),
                await session.call_tool("coverage", {"runs": ["guess"]}),
            )

    with ThreadPoolExecutor(1) as aside:  # the browser's own loop runs in this thread
        tools, answer, wrong = aside.submit(asyncio.run, ask()).result()
    assert {tool.name for tool in tools} == {"generate", "compare", "coverage", "replay_walk"}
    assert all("Args:" in tool.description and "{" not in tool.description for tool in tools if tool.name != "compare")
    told = next(tool.description for tool in tools if tool.name == "generate")
    assert f"method: {', '.join(METHODS)}." in told and "of domino and dspark" in " ".join(told.split())
    found = json.loads(answer.content[0].text)
    assert found["mean_accepted"] == pytest.approx(replayed(recorded[1][0], ["greedy"])[0].mean)
    assert wrong.is_error and "There is no run 'guess'" in wrong.content[0].text
