"""Numbers of metrics/summary.py as they are written, the same in every list of runs."""

import math

from dcoco_viz.metrics.names import DEFINITIONS

DIGITS = {
    "tau": 2,
    "tokens_per_second": 1,
    "speedup": 2,
    "cycles": 0,
    "output_tokens": 0,
    "seconds": 2,
    "ttft_s": 2,
    "draft_ms": 1,
    "head_ms": 2,
    "verify_ms": 1,
    "top1": 2,
    "selected": 2,
    "oracle": 2,
}
UNITS = {name: "ms" for name in ("draft_ms", "head_ms", "verify_ms")} | {"seconds": "s", "ttft_s": "s"}


def written(name: str, value: float | None) -> str | None:
    """The number with its digits; None where nothing was measured."""
    return None if value is None or math.isnan(value) else f"{value:.{DIGITS[name]}f}"


def column(name: str) -> dict[str, str]:
    """What a view needs to head a column or a row with this number and to explain it."""
    return {"name": name, "unit": UNITS.get(name, ""), **DEFINITIONS[name]._asdict()}
