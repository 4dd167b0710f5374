"""The charts of the Coverage view, from series of runs, and the sentences under them."""

from typing import Any, NamedTuple

from dcoco_viz.components.chart import chart
from dcoco_viz.figures.acceptance import conditional, unconditional
from dcoco_viz.figures.coverage import coverage_by_slot, saveable_by_slot
from dcoco_viz.figures.look import Look, looks
from dcoco_viz.figures.style import FEW
from dcoco_viz.figures.survival import budget_bars, survival_by_slot
from dcoco_viz.metrics.acceptance import Acceptance, acceptance
from dcoco_viz.metrics.blocks import Blocks, blocks
from dcoco_viz.metrics.coverage import coverage_of, saveable
from dcoco_viz.metrics.paper import paper
from dcoco_viz.metrics.survival import budget, survival
from dcoco_viz.tabs.groups import Series

THIN = f"Open marks stand on fewer than {FEW} observations."


class Evidence(NamedTuple):
    """A series, taken apart."""

    series: Series
    look: Look
    blocks: Blocks
    acceptance: Acceptance

    @property
    def label(self) -> str:
        runs, count = len(self.series.runs), len(self.blocks.slots)
        return f"{self.series.name}: {count} blocks" + (f" of {runs} runs" if runs > 1 else "")


def charts(series: list[Series], *, marks: bool) -> dict[str, dict[str, Any]]:
    """Values of the five charts by name.

    Args:
        marks: whether the paper's values stand beside the measured ones.
    """
    faces = looks([one.method for one in series])
    found = [
        Evidence(one, look, blocks(one.runs), acceptance(one.runs))
        for one, look in zip(series, faces, strict=True)
    ]
    drafted = [one for one in found if len(one.blocks.slots)]
    sent = [one for one in found if len(one.acceptance.submitted)]
    stars = paper() if marks else None
    said = f"Hollow stars: {stars.model}, another model on other prompts; {stars.source}." if stars and drafted else ""
    without, sampled = _without(found, _no_pool), _sampled(drafted)
    covered = [coverage_of(one.blocks) for one in drafted]
    saved = [(one.series.name, one.look, saveable(one.blocks)) for one in drafted]
    taken = [(one.series.name, one.look, one.acceptance) for one in sent]
    return {
        "coverage": chart(
            "Coverage by slot",
            "coverage",
            panels={
                one.label: coverage_by_slot(of, one.look.colour, stars)
                for one, of in zip(drafted, covered, strict=True)
            },
            note=_note(without, said, _thin(count for of in covered for count in of.counts)),
        ),
        "survival": chart(
            "How far a path stays right",
            "survival",
            panels={one.label: survival_by_slot(survival(one.blocks), one.look) for one in drafted},
            note=_note(without, sampled, _thin(len(one.blocks.slots) for one in drafted)),
        ),
        "budget": chart(
            "What becomes of a block's slots",
            "budget",
            budget_bars([(one.series.name, one.look, budget(one.blocks), len(one.blocks.slots)) for one in drafted])
            if drafted
            else None,
            note=_note(without, sampled),
        ),
        "acceptance": chart(
            "Acceptance by slot",
            "acceptance",
            panels={
                "given that all slots before were accepted": conditional(taken),
                "from the start of the block": unconditional(taken),
            }
            if taken
            else {},
            note=_note(_without(found, _nothing_sent), _thin(n for *_, of in taken for n in of.reached)),
        ),
        "saveable": chart(
            "Wrong first choices that the pool could save",
            "saveable",
            saveable_by_slot(saved, stars) if saved else None,
            note=_note(without, sampled, said, _thin(n for *_, of in saved for n in of.wrong)),
        ),
    }


def _no_pool(one: Evidence) -> str:
    """Why a series has no block to look at; empty where it has."""
    if len(one.blocks.slots):
        return ""
    return _unrecorded(one) or "recorded without candidates (level light), so there is no pool to look into"


def _nothing_sent(one: Evidence) -> str:
    """Why the verifier decided nothing; empty where it did."""
    if len(one.acceptance.submitted):
        return ""
    if any(run.request.record == "dense" for run in one.series.runs):
        return "a dense recording drafts at every position and submits nothing, so nothing was accepted or refused"
    return _unrecorded(one) or "no cycle submitted a draft"


def _unrecorded(one: Evidence) -> str:
    if one.series.method == "none":
        return "plain decoding drafts nothing"
    return "" if any(run.cycles for run in one.series.runs) else "no cycle was recorded"


def _without(found: list[Evidence], why: Any) -> str:
    """One sentence for each series that a chart leaves out."""
    return " ".join(f"{one.series.name}: {reason}." for one in found if (reason := why(one)))


def _sampled(drafted: list[Evidence]) -> str:
    hot = [one.series.name for one in drafted if any(run.request.temperature > 0 for run in one.series.runs)]
    if not hot:
        return ""
    return (
        f"{', '.join(hot)}: sampled at a temperature above 0, where right means agreement with the text that was "
        "drawn; only at T = 0 is it what the verifier would accept."
    )


def _thin(counts: Any) -> str:
    return THIN if any(count < FEW for count in counts) else ""


def _note(*sentences: str) -> str:
    return " ".join(filter(None, sentences))
