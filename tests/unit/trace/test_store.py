from dcoco_viz.trace.store import Store
from tests.unit.factory import make_run


def test_the_least_recently_used_run_is_forgotten():
    store, runs = Store(capacity=2), [make_run(seed=seed) for seed in range(3)]
    store.put(runs[0])
    store.put(runs[1])
    assert store.get("run-0") is runs[0]  # now run-1 is the oldest
    store.put(runs[2])
    assert store.get("run-1") is None
    assert store.get("run-0") is runs[0] and store.get("run-2") is runs[2]


def test_an_unknown_id_is_no_run():
    assert Store().get("run-0") is None


def test_a_run_put_twice_is_kept_once():
    store = Store(capacity=2)
    for seed in (0, 1, 1, 1):
        store.put(make_run(seed=seed))
    assert store.get("run-0") and store.get("run-1")
