"""Recorded DCOCO runs as runs of other heads: the same path, with what those heads record of it."""

import dataclasses

import numpy as np

from dcoco_viz.trace.schema import Run


def anchored(run: Run, method: str = "dcoco-anchored") -> Run:
    """The run with scores of slot 1 behind the anchor too; its choice there stays the best."""
    rng = np.random.default_rng(1)
    request = run.request.model_copy(update={"method": method})
    out = dataclasses.replace(run, request=request, cycles=[])
    for cycle in run.cycles:
        first = cycle.logits[0] + rng.normal(0, 0.5, cycle.logits.shape[1]).astype(np.float32)
        first[cycle.ranks[0]] = first.max() + 0.25
        after = cycle.scores[np.arange(len(cycle.scores)), cycle.ranks[:-1]]
        corrected = np.concatenate([first[None], after]).astype(np.float32)
        out.cycles.append(dataclasses.replace(cycle, method=method, corrected=corrected))
    return out


def serial(run: Run, method: str = "domino") -> Run:
    """The run with the scores of its own path alone."""
    out = anchored(run, method)
    for cycle in out.cycles:
        cycle.scores = None
    return out
