"""docs/findings.md as a whole: its summary, what was measured on, and its sections."""

from collections import Counter
from pathlib import PurePath

from dcoco_viz.findings.compare import AGREE, DIFFER, MISSING, NULL, compare
from dcoco_viz.findings.coverage import coverage
from dcoco_viz.findings.paper import paper
from dcoco_viz.findings.results import NAMES, Loaded, Results
from dcoco_viz.findings.sections import equal, frozen, methods
from dcoco_viz.findings.text import Section, change, code, number, signed, spread, table
from dcoco_viz.findings.variants import ablations, seeds, walks
from dcoco_viz.findings.ways import METHODS, ordered

# What this project set out to reach on its own small verifier.
GOAL_TAU = 2.3  # of DCOCO, pooled
GOAL_LEAD = 8.0  # DCOCO over DFlash, in percent of DFlash's tau


def page(loaded: Loaded) -> str:
    """The page as Markdown, ending in a newline; the same results give the same bytes."""
    results = loaded.results
    sections = [
        frozen(results.get("frozen")),
        equal(results.get("equal")),
        methods(results.get("methods")),
        walks(results.get("walks")),
        ablations(results.get("ablations")),
        coverage(results.get("methods")),
        seeds(results.get("seeds")),
    ]
    parts = ["# Findings", _HEAD, "## Summary", _summary(results), _directions(sections)]
    parts += ["## What was measured, and how", _measured_on(results), _HOW.format(paper=paper())]
    if loaded.unread:
        parts.append(f"Not read, since no section here is about them: {', '.join(map(code, loaded.unread))}.")
    for section in sections:
        parts += [f"## {section.title}", section.body]
    return "\n\n".join(parts) + "\n"


_HEAD = """\
This page is written by `python -m dcoco_viz findings` from the results files in `assets/results` and from nothing
else; `--check` says whether it is up to date. What the paper reports stands beside what was measured here, and is
always called the paper's. Where the two do not point the same way, the page says so. A null result is shipped as
one."""

_HOW = """\
- **τ** is pooled: committed tokens / cycles, over all cycles of all held-out prompts. A cycle is one draft and one
  forward of the verifier; its own token counts, and what the end of the text cuts off does not.
- **Outside loops**: over the cycles that start outside loops of the response. A small verifier often repeats itself,
  and loops are easy to draft.
- **Temperature 0**, and measured offline: the data is the verifier's own greedy text, so that a block's accepted
  length is its match with that text, exactly.
- **Intervals** are 95%: bootstrap over held-out prompts, 2.5th to 97.5th percentile. A difference is paired, both ways
  on the same drawn prompts. They know nothing of how a training run with another seed would have come out.
- **Accepted lengths and coverage** are of those cycles all of whose slots were looked at. Every way is walked on its
  own, so that its cycles start at anchors of its own.
- **Direction**: *agree*, the interval lies on the paper's side of zero; *differ*, on the other side; *no difference
  shown*, it holds zero; *not measured*. Where the paper has no value that we know: *above* or *below*. Agreeing in
  direction is not agreeing in size.
- **The paper**: {paper.source}; where nothing else is said, {paper.setting}. Its verifiers, its training data and its
  suites are all far larger than what is measured here.
- **The commands**: `FOLDER...` are checkpoint folders, `DATA` is training data that the verifier wrote; both come from
  the commands in [training.md](training.md)."""


def _measured_on(results: dict[str, Results]) -> str:
    if not results:
        return "Nothing yet: there is no results file."
    header = (
        "results", "verifier", "SHA-256 of its weights", "data", "training sequences", "response tokens",
        "steps, shared + own", "response tokens seen", "seed", "precision", "held-out prompts",
    )  # fmt: skip
    rows = []
    for name in (n for n in NAMES if n in results):
        r = results[name]
        steps = f"{r.training.shared_steps:,} + {r.training.branch_steps:,}"
        # The file's folder belongs to the machine that measured.
        rows.append((
            code(f"{name}.json"), r.verifier, code(r.verifier_sha256[:12]), code(PurePath(r.data.file).name),
            f"{r.data.sequences:,}", f"{r.data.response_tokens:,}", steps, f"{r.training.response_tokens_seen:,}",
            "by column" if name == "seeds" else str(r.training.seed), r.training.precision, f"{r.held_out.prompts:,}",
        ))  # fmt: skip
    return table(header, rows)


_WHERE = {"above": "lies above zero", "below": "lies below zero", NULL: "holds zero: no difference is shown"}


def _summary(results: dict[str, Results]) -> str:
    """Best method, DCOCO beside DFlash, and the goals, from the shipped checkpoints or else from equal budgets."""
    name = next((name for name in ("methods", "equal") if name in results), None)
    if name is None:
        return "Nothing can be said yet: neither the shipped checkpoints nor equal budgets are measured."
    r = results[name]
    what = {
        "methods": "The shipped checkpoints",
        "equal": "Equal budgets, as the shipped checkpoints are not measured",
    }
    best = max(ordered(r.figures, METHODS), key=lambda way: r.figures[way].pooled.tau)
    said = [
        f"{what[name]}, on {r.held_out.prompts:,} held-out prompts with {r.verifier} at temperature 0: the best method "
        f"by pooled τ is {code(best)} with {spread(r.figures[best].pooled)}."
    ]
    if "dcoco" not in r.figures:
        return " ".join([*said, "DCOCO itself is not measured, and neither goal can be judged."])
    own = r.figures["dcoco"].pooled
    if best != "dcoco":
        said.append(f"That is not DCOCO, whose τ is {spread(own)}{_behind(name, r, best)}.")
    lead = next(c for c in compare(name, r, []) if (c.a, c.b) == ("dcoco", "dflash"))
    if lead.gap is None:
        said.append("The paired difference of DCOCO to DFlash is not measured.")
    else:
        said.append(
            f"DCOCO − DFlash is {change(lead.gap)}, {signed(lead.percent.tau, 1)}% of DFlash's τ; "
            f"the interval {_WHERE[lead.side]}."
        )
    said.append(f"Goal of τ {GOAL_TAU} for DCOCO: {_goal(own.tau, own.interval, GOAL_TAU)}, with {number(own.tau)}.")
    goal = f"Goal of DCOCO {GOAL_LEAD:.0f}% above DFlash"
    if lead.percent is None:
        return " ".join([*said, f"{goal}: not measured."])
    reached = _goal(lead.percent.tau, lead.percent.interval, GOAL_LEAD)
    return " ".join([*said, f"{goal}: {reached}, with {change(lead.percent, 1, '%')}."])


def _behind(name: str, results: Results, best: str) -> str:
    """DCOCO beside the best method, where that is not DFlash, which it is compared with anyway."""
    gap = next((c for c in compare(name, results, [("dcoco", best)]) if (c.a, c.b) == ("dcoco", best)), None)
    if best == "dflash" or gap is None:
        return ""
    if gap.gap is None:
        return ", with no paired difference of the two measured"
    return f"; the interval of their paired difference, {change(gap.gap)}, {_WHERE[gap.side]}"


def _goal(value: float, interval: tuple[float, float], goal: float) -> str:
    if value < goal:
        return "not reached"
    return "reached" if interval[0] >= goal else "reached by the value, but its interval begins below"


def _directions(sections: list[Section]) -> str:
    """How many of the paper's directions are ours too, and which are not."""
    found = [(section.title, claim, verdict) for section in sections for claim, verdict in section.verdicts]
    count = Counter(verdict for _, _, verdict in found)
    text = (
        f"Of {len(found)} directions that the paper reports and that have a place on this page, {count[AGREE]} agree, "
        f"{count[DIFFER]} differ, {count[NULL]} show no difference and {count[MISSING]} are not measured."
    )
    differ = [f"- **Not so here** ({title}): {claim}." for title, claim, verdict in found if verdict == DIFFER]
    return "\n\n".join([text, *(["\n".join(differ)] if differ else [])])
