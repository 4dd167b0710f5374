"""The ways of walking in their order, and the command that measures a section."""

from collections.abc import Iterable

from dcoco_viz.findings.results import Results
from dcoco_viz.findings.text import code

METHODS = (
    "dflash", "dflash-long", "dcoco", "dcoco-nohead", "dcoco-anchored", "domino", "dspark", "selector",
)  # fmt: skip
WALKS = ("greedy", "global-sum", "geometric:0.75", "beam:4")
ABLATIONS = (
    "dcoco", "dcoco+no-pair", "dcoco+no-candidate", "dcoco+frozen", "dcoco+k:4", "dcoco+k:8", "dcoco+k:32",
    "dcoco+rho:2", "dcoco+rho:8", "dflash",
)  # fmt: skip
SOURCES = ("gsm8k", "magpie", "code", "chat")

HEADS = ("dcoco", "dcoco-anchored", "domino", "dspark", "selector")
_MEASURED = {
    "frozen": ("dflash", *HEADS),
    "equal": ("dflash", "dflash-long", *HEADS),
    "methods": ("dflash", *HEADS),
    "walks": WALKS,
    "ablations": ABLATIONS,
    "seeds": ("dflash@42", "dcoco@42", "dflash@43", "dcoco@43", "dflash@44", "dcoco@44"),
}


def ordered(names: Iterable[str], order: tuple[str, ...]) -> list[str]:
    """Those that `order` knows as it has them, then the others by name."""
    place = {name: i for i, name in enumerate(order)}
    return sorted(names, key=lambda name: (place.get(name, len(order)), name))


def against(results: Results | None, base: str, order: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every other way of the results beside `base`."""
    names = ordered(results.figures, order) if results else []
    return [(name, base) for name in names if name != base]


def not_measured(section: str) -> str:
    """What a section says while its results file is missing."""
    ways = ", ".join(code(way) for way in _MEASURED[section])
    return (
        f"Not measured yet. This command measures it; the ways are {ways}:\n\n"
        f"    .venv/bin/python -m dcoco_viz train eval FOLDER... --data DATA --save assets/results/{section}.json"
    )
