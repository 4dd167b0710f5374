"""The runs a server remembers: bounded, so that a long-lived page does not eat the machine."""

from collections import OrderedDict

from dcoco_viz.trace.schema import Run


class Store:
    """Least-recently-used runs by id. Ids are unguessable (uuid4): who knows one may see its run."""

    def __init__(self, capacity: int = 200):
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._capacity = capacity

    def put(self, run: Run) -> None:
        self._runs[run.id] = run
        self._runs.move_to_end(run.id)
        while len(self._runs) > self._capacity:
            self._runs.popitem(last=False)

    def get(self, run_id: str) -> Run | None:
        run = self._runs.get(run_id)
        if run is not None:
            self._runs.move_to_end(run_id)
        return run
