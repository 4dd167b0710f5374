"""Walks, ablations and seeds: variants of DCOCO beside DCOCO itself, the paper's Tables 3, 5 and 6."""

import statistics

from dcoco_viz.findings.compare import compare
from dcoco_viz.findings.paper import paper
from dcoco_viz.findings.results import Results
from dcoco_viz.findings.text import (
    NONE,
    Section,
    code,
    comparisons,
    number,
    percent,
    signed,
    spread,
    table,
    verdicts,
)
from dcoco_viz.findings.ways import ABLATIONS, METHODS, WALKS, against, not_measured, ordered


def walks(results: Results | None) -> Section:
    """Other walks over the scores of one corrector."""
    intro = (
        "One drafter and one corrector score every block, and only the walk over the scores differs (the paper's "
        "Table 3). accepted is the mean accepted length of the chosen path. The paper's τ are those of a corrector "
        "trained from the pretrained drafter, and compare only with one another; of `beam:4` it says nothing."
    )
    compared = compare("walks", results, against(results, "greedy", WALKS))
    body = not_measured("walks")
    if results:
        theirs = paper().tau["walks"]
        rows = [
            (
                code(way), number(f.prefix.selected), percent(f.prefix.helped), percent(f.prefix.harmed),
                spread(f.pooled), spread(f.without_loop_tokens), number(theirs.get(way)),
            )
            for way, f in ((way, results.figures[way]) for way in ordered(results.figures, WALKS))
        ]  # fmt: skip
        header = ("walk", "accepted", "helped", "harmed", "τ (95%)", "τ outside loops (95%)", "the paper's")
        body = table(header, rows)
    return Section("Walks on the same scores", "\n\n".join([intro, body, comparisons(compared)]), verdicts(compared))


def ablations(results: Results | None) -> Section:
    """DCOCO with a part left out, or with another K or rho."""
    intro = (
        "DCOCO with one thing changed (the paper's Tables 5 and 6): no state of the slot pair, no representation of "
        "the candidates, the drafter frozen, K candidates a slot (`k`; 16 otherwise), and the decay of the loss over "
        "slots (`rho`; 4 otherwise). What the paper reports for other K and ρ is not known here."
    )
    pairs = [pair for pair in against(results, "dcoco", ABLATIONS) if pair[0] != "dflash"]
    compared = compare("ablations", results, pairs)
    body = not_measured("ablations")
    if results:
        rows = [
            (code(way), number(f.prefix.selected), spread(f.pooled), spread(f.without_loop_tokens))
            for way, f in ((way, results.figures[way]) for way in ordered(results.figures, ABLATIONS))
        ]
        body = table(("way", "selected", "τ (95%)", "τ outside loops (95%)"), rows)
    return Section("Ablations", "\n\n".join([intro, body, comparisons(compared)]), verdicts(compared))


def seeds(results: Results | None) -> Section:
    """The same training with other seeds. The paper trained with one, so there is nothing to agree with."""
    intro = (
        "The same training with other seeds. The intervals elsewhere on this page are over prompts and know nothing "
        f"of this. The paper trained with one seed ({paper().seed}). The standard deviation is that of the seeds, "
        "with n − 1."
    )
    if not results:
        return Section("Seeds", "\n\n".join([intro, not_measured("seeds")]), [])
    by_method: dict[str, dict[int, float]] = {}
    for way, figures in results.figures.items():
        method, _, seed = way.partition("@")
        by_method.setdefault(method, {})[int(seed)] = figures.pooled.tau
    methods = ordered(by_method, METHODS)
    every = sorted({seed for taus in by_method.values() for seed in taus})
    header = ("method", *(f"seed {seed}" for seed in every), "seeds", "mean τ", "standard deviation")
    rows = [_row(code(method), by_method[method], every, number) for method in methods]
    base = by_method.get("dflash", {})
    for method in (m for m in methods if m != "dflash"):
        gaps = {seed: tau - base[seed] for seed, tau in by_method[method].items() if seed in base}
        if gaps:
            rows.append(_row(f"{code(method)} − `dflash`", gaps, every, signed))
    pairs = [
        (f"{method}@{seed}", f"dflash@{seed}")
        for method in methods
        for seed in sorted(by_method[method])
        if method != "dflash" and seed in base
    ]
    compared = compare("seeds", results, pairs)
    sides = [c.side for c in compared if c.a.startswith("dcoco@") and c.b.startswith("dflash@") and c.gap]
    said = f"The interval of DCOCO − DFlash lies above zero at {sides.count('above')} of {len(sides)} seeds."
    return Section("Seeds", "\n\n".join([intro, table(header, rows), comparisons(compared), said]), [])


def _row(name: str, by_seed: dict[int, float], every: list[int], write) -> list[str]:
    values = list(by_seed.values())
    deviation = number(statistics.stdev(values)) if len(values) > 1 else NONE
    cells = [write(by_seed[seed]) if seed in by_seed else NONE for seed in every]
    return [name, *cells, str(len(values)), write(statistics.mean(values)), deviation]
