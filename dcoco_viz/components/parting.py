"""Where two walks part: the cycles, and a picture of one of them with both paths over its candidates."""

from typing import Any

from dcoco_viz.components.view import View
from dcoco_viz.components.wire import text
from dcoco_viz.metrics.names import DEFINITIONS
from dcoco_viz.trace.schema import Run
from dcoco_viz.trace.store import Store

GONE = "This run is no longer on this server."


class Parting(View):
    """The value says of which run, walks, K and slots; the browser fetches what it looks at."""

    def __init__(self, store: Store, **kwargs: Any):
        def cycles(query: dict[str, Any]) -> dict[str, Any]:
            from dcoco_viz.lab.parting import partings  # torch, which takes seconds to load

            run, a, b = _replayed(store, query)
            if run is None:
                return {"error": GONE}
            found = [{"cycle": p.cycle, "slot": p.slot, "accepted": p.accepted} for p in partings(a, b)]
            return {"partings": found, "of": len(a.cycles)}

        def drawn(query: dict[str, Any]) -> dict[str, Any]:
            run, a, b = _replayed(store, query)
            return {"error": GONE} if run is None else draw(run, int(query["cycle"]), a, b)

        definition = DEFINITIONS["path_sum"]._asdict()
        super().__init__(definition=definition, server_functions=[cycles, drawn], **kwargs)


def value(run: Run, walks: list[str], *, pool: int, slots: int) -> dict[str, Any]:
    """A value for a Parting; it begins with the first two walks that differ in name."""
    return {"run": run.id, "walks": walks, "pool": pool, "slots": slots, "method": run.request.method}


def draw(run: Run, index: int, a: Any, b: Any) -> dict[str, Any]:
    """The picture of a cycle as JSON; tokens as their bytes, one character a byte."""
    from dcoco_viz.lab.parting import picture

    shown = picture(run, index, a, b)
    return {
        "cycle": shown.cycle,
        "anchor": text(run, shown.anchor),
        "nodes": [[{**n._asdict(), "token": text(run, n.token)} for n in slot] for slot in shown.nodes],
        "truth": [text(run, token) if token >= 0 else None for token in shown.truth],
        "paths": [_path(run, path) for path in shown.paths],
    }


def _path(run: Run, path: Any) -> dict[str, Any]:
    """Numbers as the page writes them: rounding is Python's everywhere."""
    return {
        **path._asdict(),
        "tokens": [text(run, token) for token in path.tokens],
        "edges": [_fixed(step, 1) for step in path.steps],
        "steps": [_fixed(step, 2) for step in path.steps],
        "sums": [_fixed(total, 2) for total in path.sums],
    }


def _fixed(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def _replayed(store: Store, query: dict[str, Any]) -> tuple[Any, Any, Any]:
    from dcoco_viz.lab.replay import replay

    run = store.get(str(query["run"]))
    if run is None:
        return None, None, None
    names = [str(query["a"]), str(query["b"])]
    return run, *replay(run, names, pool=int(query["pool"]), slots=int(query["slots"]))
