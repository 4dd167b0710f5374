"""Numbers, tables and sentences as the page writes them, rounded always alike."""

from collections.abc import Iterable
from typing import NamedTuple

from dcoco_viz.findings.compare import DIFFER, NULL, Compared
from dcoco_viz.findings.results import Interval

NONE = "–"  # a cell without a number


class Section(NamedTuple):
    """One part of the page."""

    title: str
    body: str
    verdicts: list[tuple[str, str]]  # what the paper says, and the verdict on it


def number(value: float | None, digits: int = 3) -> str:
    return NONE if value is None else f"{_rounded(value, digits):.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """With its sign, but for a zero."""
    value = _rounded(value, digits)
    return f"{value:+.{digits}f}" if value else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    return NONE if value is None else f"{_rounded(100 * value, 1):.1f}%"


def spread(value: Interval | None) -> str:
    """A tau and its interval."""
    if value is None:
        return NONE
    low, high = map(number, value.interval)
    return f"{number(value.tau)} ({low} to {high})"


def change(value: Interval | None, digits: int = 3, unit: str = "") -> str:
    """A difference and its interval, with signs."""
    if value is None:
        return NONE
    low, high = (signed(end, digits) + unit for end in value.interval)
    return f"{signed(value.tau, digits)}{unit} ({low} to {high})"


def code(name: str) -> str:
    return f"`{name}`"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; a bar inside a cell is kept from ending it."""
    lines = [list(header), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def comparisons(compared: list[Compared]) -> str:
    """The table of paired differences, and a sentence for each that is not the paper's."""
    header = (
        "comparison",
        "Δτ, ours (95%)",
        "Δτ outside loops (95%)",
        "in % of the second",
        "the paper's",
        "direction",
    )
    rows = [
        (
            f"{code(c.a)} − {code(c.b)}",
            change(c.gap),
            change(c.outside),
            change(c.percent, 1, "%"),
            _claimed(c),
            c.verdict if c.claim else f"{c.verdict} (nothing to agree with)",
        )
        for c in compared
    ]
    sentences = [_sentence(c) for c in compared if c.claim and c.verdict in (DIFFER, NULL)]
    return "\n\n".join([table(header, rows), *(["\n".join(sentences)] if sentences else [])])


def statement(claim: str, verdict: str) -> str:
    """What the paper says, and whether it is so here."""
    return f"{claim}: {'**not so here (differ)**' if verdict == DIFFER else verdict}."


def verdicts(compared: list[Compared]) -> list[tuple[str, str]]:
    """Of those that the paper has a value for."""
    return [(f"{code(c.a)} {c.claim.direction} {code(c.b)}", c.verdict) for c in compared if c.claim]


def _claimed(c: Compared) -> str:
    if c.claim is None:
        return NONE
    return c.claim.shown + (f" ({c.claim.note})" if c.claim.note else "")


def _sentence(c: Compared) -> str:
    ours, theirs = change(c.gap), f"the paper has it {c.claim.direction} ({c.claim.shown})"
    if c.verdict == NULL:
        return f"- No difference shown between {code(c.a)} and {code(c.b)}: {ours} holds zero; {theirs}."
    return f"- **Not as in the paper:** {code(c.a)} is {c.side} {code(c.b)} here, {ours}; {theirs}."


def _rounded(value: float, digits: int) -> float:
    return round(value, digits) + 0.0  # a negative zero would be written with its sign
