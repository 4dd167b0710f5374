"""What the path lab asks of the engine, and what it refuses to ask."""

from types import SimpleNamespace

import pytest

from dcoco_viz.lab.dense import belongs
from dcoco_viz.tabs.engine import Engine
from dcoco_viz.tabs.labwork import PROBES, cost_requests, cost_result, dense_requests, dense_result
from dcoco_viz.trace.schema import Parent, Run
from tests.unit.lab.decoding import decode

SHAPE = {"length": 9, "slots": 3, "pool": 3}


@pytest.fixture
def engine():
    """An engine that stands ready with the verifier of `decode`; nothing is decoded here."""
    engine = Engine("smollm2-cpu")
    engine.session = SimpleNamespace(meta={"preset": "test", "dtype": "float32"}, methods=["none", "dcoco"])
    return engine


def test_a_dense_trace_repeats_the_request(engine):
    run = decode(3, **SHAPE, limit=2)
    run.request.stop, run.request.system = ["x"], "be brief"
    (request,) = dense_requests(run, engine)
    changed = {"record": "dense", "max_tokens": 9}
    assert request == run.request.model_copy(update=changed)
    assert run.request.record == "full"


def test_costs_are_measured_without_a_draft_and_at_each_number_of_slots(engine):
    run = decode(3, **SHAPE)
    run.request.parent = Parent(run="r", cycle=0, slot=1, rank=1)
    plain, *drafted = cost_requests(run, engine)
    assert plain.method == "none"
    assert [request.slots for request in drafted] == list(PROBES)
    assert all(request.method == "dcoco" and request.walk == "greedy" for request in drafted)
    assert all(r.max_tokens == 20 and r.record == "light" and r.parent is None for r in (plain, *drafted))


@pytest.mark.parametrize("ask", [dense_requests, cost_requests])
def test_another_verifier_is_refused(engine, ask):
    run = decode(3, **SHAPE)
    run.meta["dtype"] = "bfloat16"
    with pytest.raises(ValueError, match="decoded by test in bfloat16, and the engine .* is test in float32"):
        ask(run, engine)
    run.meta["dtype"], run.request.method = "float32", "dflash"
    with pytest.raises(ValueError, match="no dflash"):
        ask(run, engine)
    engine.session = None
    with pytest.raises(ValueError, match="not ready"):
        ask(run, engine)


def test_a_dense_trace_needs_temperature_zero(engine):
    run = decode(3, **SHAPE)
    run.request.temperature = 0.5
    with pytest.raises(ValueError, match="only at temperature 0"):
        dense_requests(run, engine)
    assert cost_requests(run, engine)


def ended(*runs: Run, error: str = "", asked: int = 1):
    return SimpleNamespace(runs=list(runs), error=error, requests=[None] * asked)


def test_what_is_said_of_a_dense_trace():
    run, dense = decode(3, **SHAPE), decode(3, **SHAPE, dense=True)
    assert dense_result(run, ended(dense)) is None and dense.name == "Dense trace: p" and belongs(run, dense)
    dense.token_ids = [*run.token_ids[:4], (run.token_ids[4] + 1) % 6, *run.token_ids[5:]]
    assert "from token 5 of 9 on" in dense_result(run, ended(dense))["text"]
    dense.finish_reason, dense.token_ids = "abort", run.token_ids[:4]
    assert "Stopped after 4 of 9 tokens" in dense_result(run, ended(dense))["text"]
    assert "Stopped after 0 of 9 tokens" in dense_result(run, ended())["text"]  # before the engine gave any
    assert dense_result(run, ended(error="It broke."))["text"] == "It broke."


def test_what_is_said_of_costs():
    first, second = (decode(seed, **SHAPE, limit=limit) for seed, limit in ((1, 1), (2, 3)))
    assert cost_result(first, ended(first, second, asked=2)) is None
    assert [run.name for run in (first, second)] == ["Cycle cost, 1 slot", "Cycle cost, 3 slots"]
    second.finish_reason = "abort"
    assert "after 1 of 2 measurements" in cost_result(first, ended(first, second, asked=2))["text"]
