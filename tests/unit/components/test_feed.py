"""What a new cycle costs on the wire, and what the feed answers when asked."""

import base64

import numpy as np
import orjson
import pytest
from gradio.utils import diff

from dcoco_viz.components.feed import RING, Feed, Sender, describe
from dcoco_viz.components.readout import SHOWN
from dcoco_viz.metrics.summary import summary
from dcoco_viz.trace.pieces import to_bytes
from dcoco_viz.trace.schema import Parent
from dcoco_viz.trace.store import Store
from tests.unit.factory import make_run

LIMIT = 16_000  # bytes a new cycle may add, with the scores of the slot pair that is looked at


@pytest.fixture
def feed():
    store = Store()
    run = make_run(slots=15, pool=16, cycles=120)
    store.put(run)
    return Feed(store, lane="a"), run


@pytest.mark.parametrize("method", ["dcoco", "dcoco-anchored", "domino"])
def test_only_the_new_cycle_travels(method):
    run = make_run(slots=15, pool=16, cycles=60, method=method)
    rng = np.random.default_rng(0)
    for cycle in run.cycles:  # the worst case: no candidate was ever seen before
        cycle.candidates = rng.choice(150_000, (15, 16), replace=False).astype(np.int32)
        run.pieces |= {t: f" word{t % 1000:03d}" for t in cycle.candidates.ravel().tolist()}
    cycles, run.cycles = run.cycles, []
    sender = Sender(run)
    before = sender.value("running")
    for cycle in cycles:
        run.cycles.append(cycle)
        after = sender.value("running")
        edits = diff(before, after)
        assert len(orjson.dumps(edits)) + 4 * 16 * 16 * 2 / 3 < LIMIT
        touched = {path[1] for _, path, _ in edits if path[0] == "ring"}
        assert touched == {cycle.index % RING}
        before = after


def test_the_figures_are_those_of_the_metrics():
    run = make_run(slots=15, pool=16, cycles=9)
    shown, known = Sender(run).value("done")["figures"], summary(run)
    assert set(SHOWN) <= shown.keys()
    assert shown["tau"] == f"{known.tau:.2f}"
    assert shown["tokens_per_second"] == f"{known.tokens_per_second:.1f}"
    assert shown["verify_ms"] == f"{known.verify_ms:.1f}"
    assert (shown["cycles"], shown["output_tokens"]) == (str(known.cycles), str(known.output_tokens))


def test_nothing_measured_is_not_zero():
    shown = Sender(make_run(method="none", cycles=0)).value("waiting")["figures"]
    assert shown["tau"] is None and shown["draft_ms"] is None and shown["coverage"] is None


def test_scores_are_those_of_the_pair(feed):
    view, run = feed
    found = view.scores({"run": run.id, "pair": 6, "start": 10, "stop": 14})
    for text, cycle in zip(found, run.cycles[10:14], strict=True):
        assert np.array_equal(np.frombuffer(base64.b64decode(text), "<f2").reshape(16, 16), cycle.scores[6])


def test_records_come_in_chunks_that_join(feed):
    view, run = feed
    got = []
    while len(got) < len(run.cycles):
        got += view.records({"run": run.id, "start": len(got), "stop": len(run.cycles)})
    assert [record["index"] for record in got] == list(range(120))


def test_an_unknown_run_has_nothing(feed):
    view, _ = feed
    assert view.records({"run": "guess", "start": 0, "stop": 5}) == []
    assert view.scores({"run": "guess", "pair": 0, "start": 0, "stop": 5}) == []


def test_a_pair_that_is_not_there_has_no_scores(feed):
    view, run = feed
    assert view.scores({"run": run.id, "pair": 14, "start": 0, "stop": 1}) == [None]


def test_a_branch_brings_its_parent_and_the_given_text():
    run = make_run()
    run.name, run.request.system = "mine", "Be brief."
    run.request.continued = run.prompt_ids[-2:]
    run.request.parent = Parent(run="older", cycle=3, slot=2, rank=1)
    told = describe(run)
    assert (told["name"], told["system"], told["raw"]) == ("mine", "Be brief.", False)
    assert told["created"] == run.created
    assert told["parent"] == {"run": "older", "cycle": 3, "slot": 2, "rank": 1}
    assert told["given"] == run.prompt_ids[-2:]
    for token in told["given"]:
        assert told["pieces"][str(token)].encode("latin-1") == to_bytes(run.pieces[token])
    assert describe(make_run())["parent"] is None
