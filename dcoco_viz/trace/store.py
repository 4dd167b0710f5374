"""The runs a server remembers: bounded, so that a long-lived page does not eat the machine."""

import time
from collections import OrderedDict
from dataclasses import dataclass, fields

from dcoco_viz.trace.schema import Run

CAPACITY = 400  # runs
MEMORY = 10**9  # bytes of arrays
UNDO_S = 30.0  # how long a deleted run can be taken back


@dataclass(slots=True)
class _Kept:
    """A run, whose it is, and what it weighs."""

    run: Run
    owner: str
    counted: int = 0  # cycles that `weight` stands on
    weight: int = 0  # bytes
    deleted: float = 0.0  # when, on the monotonic clock; only of those that wait for their end

    def weigh(self) -> int:
        """Bytes of the arrays so far; a run that is being decoded grows."""
        for cycle in self.run.cycles[self.counted :]:
            self.weight += 1_000 + sum(getattr(getattr(cycle, field.name), "nbytes", 0) for field in fields(cycle))
            self.counted += 1
        return self.weight


class Store:
    """Least-recently-used runs by id, each with its owner.

    Ids are unguessable (uuid4): who knows one may see its run, so that links can be shared. Only its owner finds it
    in a list, renames it or deletes it. What is deleted can be taken back for UNDO_S seconds, and is seen by nobody.
    """

    def __init__(self, capacity: int = CAPACITY, memory: int = MEMORY):
        """Keep at most `capacity` runs, whose arrays hold at most `memory` bytes together."""
        self._runs: OrderedDict[str, _Kept] = OrderedDict()
        self._deleted: OrderedDict[str, _Kept] = OrderedDict()
        self._capacity, self._memory = capacity, memory

    def put(self, run: Run, owner: str = "") -> None:
        """Remember a run; "" owns what belongs to nobody, such as the traces that a server starts with."""
        text = 40 * (len(run.prompt_ids) + len(run.token_ids)) + 200 * len(run.pieces) + len(str(run.meta))  # about
        self._runs[run.id] = _Kept(run, owner, weight=text)
        self._runs.move_to_end(run.id)
        self._fit()

    def get(self, run_id: str) -> Run | None:
        found = self._runs.get(run_id)
        if found is None:
            return None
        self._runs.move_to_end(run_id)
        return found.run

    def some(self, run_ids: list[str]) -> list[Run]:
        """Those of these runs that are still there, in this order."""
        return [run for run_id in run_ids if (run := self.get(run_id)) is not None]

    def of(self, owner: str) -> list[Run]:
        """The owner's runs, the newest first."""
        mine = [kept.run for kept in self._runs.values() if kept.owner == owner]
        return sorted(mine, key=lambda run: run.created, reverse=True)

    def rename(self, run_id: str, owner: str, name: str) -> bool:
        """Give a run of this owner a name; False where there is none."""
        kept = self._runs.get(run_id)
        if kept is None or kept.owner != owner:
            return False
        kept.run.name = name
        return True

    def remove(self, run_id: str, owner: str) -> bool:
        """Delete a run of this owner; False where there is none."""
        kept = self._runs.get(run_id)
        if kept is None or kept.owner != owner:
            return False
        kept.deleted = time.monotonic()
        self._deleted[run_id] = self._runs.pop(run_id)
        self._fit()
        return True

    def restore(self, run_id: str, owner: str) -> bool:
        """Take back what this owner has just deleted; False where it is gone."""
        self._fit()
        kept = self._deleted.get(run_id)
        if kept is None or kept.owner != owner:
            return False
        self._runs[run_id] = self._deleted.pop(run_id)
        return True

    def _fit(self) -> None:
        """Forget what was deleted long ago, and as many runs as are too many: deleted ones first, then the oldest."""
        now = time.monotonic()
        while self._deleted and next(iter(self._deleted.values())).deleted < now - UNDO_S:
            self._deleted.popitem(last=False)
        everything = [*self._deleted.values(), *self._runs.values()]
        count, memory = len(everything), sum(kept.weigh() for kept in everything)
        for kept in everything[:-1]:  # the last one has just come
            if count <= self._capacity and memory <= self._memory:
                break
            if kept.run.finish_reason is None:
                continue  # being decoded
            self._deleted.pop(kept.run.id, None)
            self._runs.pop(kept.run.id, None)
            count, memory = count - 1, memory - kept.weight
