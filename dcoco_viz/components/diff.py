"""The texts of several runs, aligned by token position: what each had, and how it came by it."""

from typing import Any

from dcoco_viz.components.compared import Entry, line, names, pieces, special
from dcoco_viz.components.view import View
from dcoco_viz.metrics.compare import evidence, parting, shared
from dcoco_viz.metrics.names import DEFINITIONS


class Diff(View):
    """Equal texts stand there once, with one row of origins a run; different ones below each other."""

    def __init__(self, **kwargs: Any):
        super().__init__(alone=DEFINITIONS["drafted_alone"]._asdict(), **kwargs)


def diff(entries: list[Entry]) -> dict[str, Any]:
    """A value, of the typical run of every entry.

    `part` is the first differing position, from 0, None where there is none; `evidence` what is recorded there,
    by entry. `shared` counts who drafted what, among the entries that draft, where the texts are equal.
    """
    runs = [entry.run for entry in entries]
    part = parting(runs)
    drafting = [run for run in runs if run.request.method != "none"]
    found = [] if part is None else [evidence(run, part) for run in runs]
    ids = [token for run in runs for token in run.token_ids] + [e.drafted for e in found if e.drafted is not None]
    counts = shared(drafting)._asdict() if part is None and len(drafting) > 1 else None
    return {
        "runs": [{**name, **line(run)} for name, run in zip(names(entries), runs, strict=True)],
        "part": part,
        "shared": counts and {**counts, "alone": dict(zip((run.id for run in drafting), counts["alone"], strict=True))},
        "evidence": [_sentence(e._asdict()) for e in found],
        "pieces": pieces(runs, ids),
        "special": special(runs),
    }


def _sentence(found: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: a drafted token that a sampling filter ruled out has the log-probability "−∞"."""
    logprob = found.pop("logprob")
    return found | {"logprob": None if logprob is None else f"{logprob:.3f}".replace("-inf", "−∞").replace("-", "−")}
