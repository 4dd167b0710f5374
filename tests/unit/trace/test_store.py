from dataclasses import fields

from numpy import ndarray

from dcoco_viz.trace.store import UNDO_S, Store
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


def test_a_list_and_a_deletion_are_the_owners_own():
    store = Store()
    mine, theirs = make_run(seed=1), make_run(seed=2)
    mine.created, theirs.created = "2026-01-01", "2026-01-02"
    late = make_run(seed=3)
    late.created = "2026-01-03"
    for run, owner in ((late, "ann"), (mine, "ann"), (theirs, "ben")):
        store.put(run, owner)
    assert store.of("ann") == [late, mine] and store.of("") == []
    assert not store.remove(mine.id, "ben") and not store.remove("guess", "ann")
    assert store.some([theirs.id, "guess", mine.id]) == [theirs, mine]
    assert store.remove(mine.id, "ann") and store.get(mine.id) is None


def test_a_name_is_given_by_the_owner_alone():
    store, run = Store(), make_run(seed=1)
    store.put(run, "ann")
    assert not store.rename(run.id, "ben", "theirs") and not store.rename("guess", "ann", "none")
    assert store.rename(run.id, "ann", "mine") and run.name == "mine"


def test_what_is_deleted_can_be_taken_back_for_a_while(monkeypatch):
    store, now = Store(), [1000.0]
    monkeypatch.setattr("dcoco_viz.trace.store.time.monotonic", lambda: now[0])
    for seed in (1, 2):
        store.put(make_run(seed=seed), "ann")
        assert store.remove(f"run-{seed}", "ann")
    assert store.get("run-1") is None and store.of("ann") == []
    assert not store.restore("run-1", "ben") and not store.restore("guess", "ann")
    now[0] += UNDO_S - 1
    assert store.restore("run-1", "ann") and store.get("run-1").id == "run-1"
    assert not store.restore("run-1", "ann")
    now[0] += 2
    assert not store.restore("run-2", "ann")


def arrays(run):
    return sum(a.nbytes for c in run.cycles for f in fields(c) if isinstance(a := getattr(c, f.name), ndarray))


def test_memory_is_bounded():
    runs = [make_run(seed=seed, slots=15, pool=16, cycles=40) for seed in range(4)]
    store = Store(memory=int(3.8 * arrays(runs[0])))  # text and objects weigh something too
    for run in runs:
        store.put(run)
    assert [store.get(run.id) for run in runs] == [None, *runs[1:]]


def test_text_weighs_too():
    runs = [make_run(seed=seed, cycles=1) for seed in range(2)]
    runs[0].meta["note"] = "x" * 10**6
    store = Store(memory=10**6)
    for run in runs:
        store.put(run)
    assert store.get("run-0") is None and store.get("run-1")


def test_a_run_weighs_what_it_has_grown_to():
    growing, *others = [make_run(seed=seed, slots=15, pool=16, cycles=n) for seed, n in enumerate((40, 1, 1))]
    cycles, growing.cycles = growing.cycles, []
    store = Store(memory=10 * arrays(others[0]))
    store.put(growing)
    growing.cycles = cycles
    for other in others:
        store.put(other)
    assert store.get("run-0") is None and store.get("run-1") and store.get("run-2")


def test_a_run_that_is_being_decoded_is_never_forgotten():
    store, running = Store(capacity=1), make_run(seed=0)
    running.finish_reason = None
    store.put(running)
    for seed in (1, 2):
        store.put(make_run(seed=seed))
    assert store.get("run-0") is running and store.get("run-1") is None
    running.finish_reason = "stop"
    store.put(make_run(seed=3))
    assert store.get("run-0") is None


def test_deleted_runs_go_first():
    store = Store(capacity=2)
    for seed in (0, 1):
        store.put(make_run(seed=seed), "ann")
    store.remove("run-1", "ann")
    store.put(make_run(seed=2), "ann")
    assert store.get("run-0") and store.get("run-2") and not store.restore("run-1", "ann")
