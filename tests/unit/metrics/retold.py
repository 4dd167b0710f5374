"""The output of a run, come by in another way: for tests that need several runs with one text."""

from itertools import cycle as around

import numpy as np

from dcoco_viz.trace.check import check
from dcoco_viz.trace.schema import Cycle, Run

SLOTS = 4


def retold(run: Run, name: str, *, method="dflash", accepted=(0, 2, 1), ms=50.0, tokens=None, **request) -> Run:
    """A sound run with the tokens of `run`, or with `tokens`, whose cycles accept these lengths in turn.

    Every cycle takes `ms` milliseconds. Method `none` drafts nothing. No candidates are recorded.
    """
    tokens = list(run.token_ids if tokens is None else tokens)
    asked = run.request.model_copy(update={"method": method, "record": "light", **request})
    out = Run(name, asked, list(run.prompt_ids), tokens, pieces=dict(run.pieces), meta=dict(run.meta))
    out.finish_reason = run.finish_reason
    done, n, lengths = 1, 0 if method == "none" else SLOTS, around(accepted)
    while done < len(tokens):
        length = 0 if method == "none" else next(lengths)
        committed = np.array(tokens[done : done + length + 1], np.int32)
        drafted = np.full(n, tokens[0], np.int32)
        drafted[: min(length, len(committed))] = committed[:length]
        out.cycles.append(
            Cycle(
                request_id=name,
                index=len(out.cycles),
                anchor_position=len(run.prompt_ids) + done - 1,
                anchor=tokens[done - 1],
                method=method,
                walk=asked.walk,
                submitted=n,
                accepted=length,
                drafted=drafted,
                committed=committed,
                draft_ms=0.2 * ms if n else 0.0,
                head_ms=0.0,
                verify_ms=0.8 * ms if n else ms,
                at_ms=ms * (len(out.cycles) + 1),
                clipped=len(committed) < length + 1,
            )
        )
        done += len(committed)
    out.seconds = ms * len(out.cycles) / 1000
    check([out])
    return out
