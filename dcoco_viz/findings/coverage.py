"""Coverage by slot of the shipped checkpoints, beside the paper's end points."""

from statistics import mean

from dcoco_viz.findings.compare import AGREE, DIFFER, MISSING, NULL
from dcoco_viz.findings.paper import paper
from dcoco_viz.findings.results import Results
from dcoco_viz.findings.text import NONE, Section, code, number, percent, statement, table
from dcoco_viz.findings.ways import METHODS, not_measured, ordered
from dcoco_viz.metrics.paper import paper as coverage_paper

HOST = "dflash"  # the drafter whose coverage the paper reports


def coverage(results: Results | None) -> Section:
    """Top-1 and top-16 by slot, and how many wrong first choices the candidates could save."""
    intro = (
        "Top-k coverage at a slot is the share of drafted slots whose k best candidates hold the token that the "
        "verifier commits there: top-1 is what the drafter gets right alone, top-16 what any choice among its "
        "candidates could. Means are over the slots, each with the same weight. Of the slots whose top-1 is wrong, "
        "those with the right token in the top-16 are the sum over slots of top-16 − top-1, over the sum of "
        "1 − top-1: again each slot with the same weight. These figures carry no interval."
    )
    shares = _shares(results)
    body = not_measured("methods")
    if results:
        body = _by_slot(shares) if shares else "The results hold no top-1 and top-16 coverage."
    claims = _claims(shares.get(HOST))
    sentences = "\n".join(f"- {statement(*claim)}" for claim in claims)
    parts = [
        intro,
        body,
        _end_points(shares),
        f"What the paper's figures say, and whether it is so of {code(HOST)} here:",
        sentences,
    ]
    return Section("Coverage by slot", "\n\n".join(parts), claims)


def saveable(top1: list[float], top16: list[float]) -> float | None:
    """Share of wrong top-1 slots whose right token is in the top-16, slots weighted alike; None where none is wrong."""
    wrong = sum(1 - x for x in top1)
    return sum(b - a for a, b in zip(top1, top16, strict=True)) / wrong if wrong else None


def _shares(results: Results | None) -> dict[str, tuple[list[float], list[float]]]:
    """Top-1 and top-16 by way. A drafter with its corrector off is the same drafter, and left out."""
    if not results:
        return {}
    found = {way: figures.coverage_by_slot for way, figures in results.figures.items() if not way.endswith("-nohead")}
    return {
        way: (found[way]["1"], found[way]["16"]) for way in ordered(found, METHODS) if {"1", "16"} <= set(found[way])
    }


def _by_slot(shares: dict) -> str:
    header = ["slot", *(f"{code(way)} top-{k}" for way in shares for k in (1, 16))]
    columns = [column for pair in shares.values() for column in pair]
    rows = [
        [str(slot + 1), *(number(c[slot]) if slot < len(c) else NONE for c in columns)]
        for slot in range(max(map(len, columns)))
    ]
    return table(header, rows)


def _end_points(shares: dict) -> str:
    """The paper's marks, and the same of ours."""
    theirs = coverage_paper()
    rows = []
    for mark in theirs.coverage:
        name = f"top-{mark.k}, " + ("mean over slots" if mark.slot == "mean" else f"slot {mark.slot}")
        ours = [number(_at(pair[0 if mark.k == 1 else 1], mark.slot)) for pair in shares.values()]
        rows.append([name, f"{mark.shown} ({theirs.model})", *ours])
    gap = paper().coverage_gap
    for name, slot, (low, high) in (("first slot", 0, gap.first), ("last slot", -1, gap.last)):
        ours = [number(pair[1][slot] - pair[0][slot]) for pair in shares.values()]
        rows.append([f"top-16 − top-1, {name}", f"{low} to {high} (four verifiers)", *ours])
    shown = percent(theirs.saveable[0].share).replace(".0%", "%")
    rows.append(
        ["wrong top-1 with the right token in the top-16", shown, *(percent(saveable(*p)) for p in shares.values())]
    )
    return table(["", "the paper's", *map(code, shares)], rows)


def _at(values: list[float], slot: int | str) -> float | None:
    if slot == "mean":
        return mean(values)
    return values[slot - 1] if slot <= len(values) else None


def _claims(pair: tuple[list[float], list[float]] | None) -> list[tuple[str, str]]:
    """The paper's three directions, of the point values."""
    said = (
        "top-1 is lower at the last slot than at the first",
        "top-16 − top-1 is larger at the last slot than at the first",
        "more than half of the wrong top-1 slots have the right token in the top-16",
    )
    if pair is None:
        return [(claim, MISSING) for claim in said]
    top1, top16 = pair
    held = saveable(top1, top16)
    excess = (
        top1[0] - top1[-1],
        (top16[-1] - top1[-1]) - (top16[0] - top1[0]),
        0 if held is None else held - 0.5,
    )
    return [(claim, _sign(value)) for claim, value in zip(said, excess, strict=True)]


def _sign(excess: float) -> str:
    excess = round(excess, 4)  # the shares have four digits
    return AGREE if excess > 0 else DIFFER if excess < 0 else NULL
