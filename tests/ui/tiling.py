"""Recorded runs cut and joined anew, sound by the accounting of trace/schema.py: longer, dense, or a branch."""

import copy
import dataclasses
import itertools

import numpy as np

from dcoco_viz.trace.schema import Parent, Run


def tiled(run: Run, count: int) -> Run:
    """The first `count` of the run's cycles, repeated; each begins behind the token that was committed before it."""
    longer = dataclasses.replace(run, token_ids=run.token_ids[:1], cycles=[], request=copy.copy(run.request))
    lasting = run.cycles[-1].at_ms
    for index, cycle in enumerate(itertools.islice(itertools.cycle(run.cycles), count)):
        longer.cycles.append(
            dataclasses.replace(
                cycle,
                index=index,
                anchor=longer.token_ids[-1],
                anchor_position=len(run.prompt_ids) + len(longer.token_ids) - 1,
                at_ms=cycle.at_ms + index // len(run.cycles) * lasting,
            )
        )
        longer.token_ids += cycle.committed.tolist()
    longer.request.max_tokens = len(longer.token_ids)
    return longer


def dense(run: Run) -> Run:
    """The run as if nothing had been submitted: one token a cycle; between recorded anchors the last block stays."""
    out = dataclasses.replace(run, token_ids=run.token_ids[:1], cycles=[], request=copy.copy(run.request))
    out.request.record = "dense"
    none = np.zeros(0, np.int32)
    for cycle in run.cycles:
        for token in cycle.committed.tolist():
            alone = dataclasses.replace(
                cycle,
                index=len(out.cycles),
                anchor=out.token_ids[-1],
                anchor_position=len(run.prompt_ids) + len(out.token_ids) - 1,
                submitted=0,
                accepted=0,
                clipped=False,
                drafted=none,
                committed=np.array([token], np.int32),
                drafted_logprob=None,
                verifier=None,
            )
            out.cycles.append(alone)
            out.token_ids.append(token)
    return out


def branch(run: Run, cycle: int) -> Run:
    """What follows cycle `cycle` of the run as a run of its own, which began with the text before."""
    first = run.cycles[cycle]
    given = first.anchor_position - len(run.prompt_ids)
    request = run.request.model_copy(
        update={
            "continued": run.token_ids[:given],
            "parent": Parent(run=run.id, cycle=cycle - 1, slot=1, rank=0),
        }
    )
    later = [dataclasses.replace(c, index=i) for i, c in enumerate(run.cycles[cycle:])]
    prompt = [*run.prompt_ids, *run.token_ids[:given]]
    return dataclasses.replace(
        run, name="the other way", request=request, prompt_ids=prompt, token_ids=run.token_ids[given:], cycles=later
    )
