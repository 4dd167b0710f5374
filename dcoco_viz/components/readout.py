"""The numbers of a run, as an instrument shows them; their definitions stand behind each name."""

from typing import Any

import numpy as np

from dcoco_viz.components.view import View
from dcoco_viz.metrics.coverage import coverage
from dcoco_viz.metrics.names import DEFINITIONS
from dcoco_viz.metrics.prefix import tau
from dcoco_viz.metrics.timing import timing
from dcoco_viz.trace.schema import Run

SHOWN = ("tau", "tokens_per_second", "cycles", "output_tokens", "draft_ms", "head_ms", "verify_ms")
UNITS = {"draft_ms": "ms", "head_ms": "ms", "verify_ms": "ms"}


class Readout(View):
    """Method, acceptance, speed and times of the lane's run."""

    def __init__(self, *, lane: str, **kwargs: Any):
        super().__init__(lane=lane, rows=[_row(name) for name in SHOWN], **kwargs)


def figures(run: Run) -> dict[str, str | None]:
    """Every number of SHOWN as it stands on the page, None where there is nothing to measure yet."""
    times = timing(run)
    return {
        "tau": _fixed(tau(run), 2),
        "tokens_per_second": _fixed(times.tokens_per_second, 1),
        "cycles": str(len(run.cycles)),
        "output_tokens": str(len(run.token_ids)),
        "draft_ms": _fixed(times.draft_ms, 1),
        "head_ms": _fixed(times.head_ms, 2),
        "verify_ms": _fixed(times.verify_ms, 1),
    }


def coverage_figures(run: Run) -> dict[str, Any] | None:
    """coverage@1 and @16 by slot with two digits, and how many slots they stand on; None without drafts."""
    share, counts = coverage([run], (1, 16))
    if not counts.sum():
        return None
    return {
        "counts": counts.tolist(),
        **{str(k): [_fixed(x, 2) for x in values] for k, values in share.items()},
    }


def _row(name: str) -> dict[str, str]:
    definition = DEFINITIONS[name]
    return {"name": name, "unit": UNITS.get(name, ""), **definition._asdict()}


def _fixed(value: float | None, digits: int) -> str | None:
    return None if value is None or np.isnan(value) else f"{value:.{digits}f}"
