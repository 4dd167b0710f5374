"""Heads on a frozen drafter, equal budgets, and the shipped checkpoints: the paper's Tables 2 and 4."""

from dcoco_viz.findings.compare import AGREE, DIFFER, MISSING, NULL, compare
from dcoco_viz.findings.paper import paper
from dcoco_viz.findings.results import Figures, Results
from dcoco_viz.findings.text import (
    NONE,
    Section,
    code,
    comparisons,
    number,
    percent,
    spread,
    statement,
    table,
    verdicts,
)
from dcoco_viz.findings.ways import METHODS, SOURCES, against, not_measured, ordered


def frozen(results: Results | None) -> Section:
    """Does a head gain anything while its drafter stays as it is?"""
    intro = (
        "The cheap question, before any joint training: with the drafter frozen, does a head gain anything? top-1, "
        "selected and oracle are the mean accepted lengths of the drafter's argmax path, of the chosen path and of "
        "the best path among the candidates. selected − top-1 is what the head gains, oracle − top-1 is what it "
        "could gain; a head that may choose outside the candidates is not bound by the oracle. helped and harmed: "
        "cycles in which the chosen path came further, or less far, than the argmax path."
    )
    compared = compare("frozen", results, against(results, "dflash", METHODS))
    parts = [intro, not_measured("frozen")]
    if results:
        header = (
            "way", "top-1", "selected", "oracle", "selected − top-1", "oracle − top-1", "gap closed", "helped",
            "harmed", "τ (95%)",
        )  # fmt: skip
        rows = [_gains(way, results.figures[way]) for way in ordered(results.figures, METHODS)]
        heads = [(c.a, c.side) for c in compared if c.b == "dflash" and c.a in results.figures]
        parts[1:] = [table(header, rows), _who_gains(heads)]
    return Section(
        "A head on a frozen drafter",
        "\n\n".join([*parts, comparisons(compared)]),
        verdicts(compared),
    )


def _gains(way: str, figures: Figures) -> tuple[str, ...]:
    p = figures.prefix
    gain, gap = p.selected - p.top1, p.oracle - p.top1
    return (
        code(way), number(p.top1), number(p.selected), number(p.oracle), number(gain), number(gap),
        percent(gain / gap if gap > 0 else None), percent(p.helped), percent(p.harmed), spread(figures.pooled),
    )  # fmt: skip


def _who_gains(heads: list[tuple[str, str]]) -> str:
    said = {
        "above": "τ rises over the drafter alone, the interval above zero, with",
        NULL: "no difference is shown (the interval holds zero) with",
        "below": "τ falls, the interval below zero, with",
        MISSING: "no paired difference was measured with",
    }
    groups = {side: [code(way) for way, s in heads if s == side] for side in said}
    parts = [f"{words} {', '.join(groups[side])}" for side, words in said.items() if groups[side]]
    return f"With the drafter frozen, {'; '.join(parts) or 'no head was measured'}."


def equal(results: Results | None) -> Section:
    """Every method for as long as the others, from one shared drafter."""
    theirs = {(c.a, c.b): c.shown for c in paper().claims("equal")}
    intro = (
        "Every method trained jointly for the same short budget, from one drafter of the shared first stage: "
        "`dflash` is that drafter as it was, `dflash-long` the same trained on alone for as long as the others. That "
        "is the paper's control (its Table 4): there, more training alone changes DFlash's τ by "
        f"{theirs['dflash-long', 'dflash']}, the joint stage by {theirs['dcoco', 'dflash']}."
    )
    compared = compare("equal", results, against(results, "dflash", METHODS))
    parts = [intro, _by_way(results) if results else not_measured("equal"), comparisons(compared)]
    return Section("Equal budgets", "\n\n".join(parts), verdicts(compared))


def _by_way(results: Results) -> str:
    names = ordered(results.figures, METHODS)
    rows = [(code(n), spread(results.figures[n].pooled), spread(results.figures[n].without_loop_tokens)) for n in names]
    return table(("way", "τ (95%)", "τ outside loops (95%)"), rows)


def methods(results: Results | None) -> Section:
    """The shipped checkpoints by source of prompts."""
    intro = (
        "The shipped checkpoints by source of prompts (the paper's Table 2): τ with its 95% interval. Speed is not in "
        f"it: that is measured by the benchmark. The paper's τ: {paper().setting}."
    )
    compared = compare("methods", results, against(results, "dflash", METHODS))
    claim, verdict = _lowest(results)
    parts = [intro, not_measured("methods")]
    if results:
        sources = ordered({s for figures in results.figures.values() for s in figures.by_source}, SOURCES)
        rows = [_by_source(way, results.figures[way], sources) for way in ordered(results.figures, METHODS)]
        parts[1:] = [table(("way", *sources, "pooled", "outside loops", "the paper's"), rows)]
    parts += [comparisons(compared), statement(claim, verdict)]
    return Section("Methods and sources", "\n\n".join(parts), [*verdicts(compared), (claim, verdict)])


def _by_source(way: str, figures: Figures, sources: list[str]) -> tuple[str, ...]:
    theirs = paper().tau["methods"].get(way)
    cells = [spread(figures.by_source.get(source)) for source in sources]
    last = NONE if theirs is None else number(theirs)
    return (code(way), *cells, spread(figures.pooled), spread(figures.without_loop_tokens), last)


def _lowest(results: Results | None) -> tuple[str, str]:
    """Whether the source where the paper's tau is lowest is ours too. Sources share no prompts, so nothing is paired:
    they count as apart where their intervals do not meet.
    """
    theirs = paper().lowest_source
    claim = f"DCOCO's τ is lowest on {theirs.source} (the paper: {theirs.shown} there)"
    sources = dict(results.figures["dcoco"].by_source) if results and "dcoco" in results.figures else {}
    own = sources.pop(theirs.source, None)
    if own is None or not sources:
        return claim, MISSING
    if all(own.interval[1] < other.interval[0] for other in sources.values()):
        return claim, AGREE
    below = [name for name, other in sorted(sources.items()) if other.interval[1] < own.interval[0]]
    return claim, DIFFER if below else NULL
