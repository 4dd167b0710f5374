"""Programs that ask the real engine."""

import pytest
from gradio_client import Client

PROMPT = "Write the multiplication table of 7, from 7 x 1 to 7 x 15, one line each."


@pytest.fixture
def client(ready):
    return Client(ready, verbose=False, httpx_kwargs={"timeout": 120})


def test_generate_and_look_at_the_run(client, visit, ready):
    made = client.predict(prompt=PROMPT, max_tokens=12, slots=4, walk="beam:2", api_name="/generate")
    assert made["output_tokens"] == len(made["token_ids"]) == 12 and made["tau"] >= 1
    page = visit(ready.rstrip("/") + made["link"])
    page.wait_for_function("dcoco.lanes.a.tokens.length === 12")
    assert page.evaluate("dcoco.lanes.a.tokens.map(t => t.id)") == made["token_ids"]
    covered = client.predict(runs=[made["run"]], api_name="/coverage")
    assert len(covered["counts"]) == 15


def test_compare_interleaved(client):
    ways = [{"method": "dcoco", "slots": 3}, {"method": "dflash", "slots": 3}]
    made = client.predict(prompt=PROMPT, ways=ways, repeat=2, max_tokens=8, api_name="/compare")
    assert [way["method"] for way in made["ways"]] == ["dcoco", "dflash", "none"]
    assert all(len(way["runs"]) == 2 for way in made["ways"]) and made["identical"]
    assert made["ways"][2]["tau"] is None and made["ways"][0]["speedup"]["median"] > 0


def test_a_request_that_cannot_be_served(client):
    with pytest.raises(Exception, match="shorten the prompt"):
        client.predict(prompt="word " * 3000, max_tokens=64, api_name="/generate")
