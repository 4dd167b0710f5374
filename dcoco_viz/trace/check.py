"""What must hold in every run: shapes, ranges and the accounting of trace/schema.py.

Run on the way into a file and on the way out of one, so that metrics and page can rely on it.
"""

import math

import numpy as np

from dcoco_viz.trace.pieces import to_bytes
from dcoco_viz.trace.schema import LEVELS, Cycle, Run

MAX_CYCLES = 100_000
MAX_TOKENS = 1_000_000  # of a run's prompt and output
MAX_PIECE = 16_384  # bytes; the longest token of the vocabularies in use has about 500
MAX_B = MAX_K = 256
BROKEN_OFF = (None, "abort", "error")
FINISH_REASONS = ("stop", "length", *BROKEN_OFF)


class TraceError(ValueError):
    """A trace that cannot be written or read; the message is one plain sentence."""


def check(runs: list[Run]) -> None:
    """Raise TraceError, naming the first thing that is wrong, unless every run is sound."""
    _require(len(runs) > 0, "it holds no run")
    _require(sum(len(run.cycles) for run in runs) <= MAX_CYCLES, f"it holds more than {MAX_CYCLES:,} cycles")
    for number, run in enumerate(runs, 1):
        _check_run(run, f"run {number}")


def _require(ok: bool, sentence: str) -> None:
    if not ok:
        raise TraceError(sentence)


def _check_run(run: Run, name: str) -> None:
    prompt, output = np.asarray(run.prompt_ids, np.int64), np.asarray(run.token_ids, np.int64)
    _require(_ids(prompt) and _ids(output), f"{name} has a token id out of range")
    _require(len(prompt) + len(output) <= MAX_TOKENS, f"{name} has more than {MAX_TOKENS:,} tokens")
    _require(run.finish_reason in FINISH_REASONS, f"{name} has an unknown finish reason")
    _require(run.request.record in LEVELS, f"{name} has an unknown record level")
    for value, what in ((run.seconds, "decode time"), (run.ttft_s, "time to first token")):
        _require(math.isfinite(value) and value >= 0, f"the {what} of {name} is not a time")
    special = run.meta.get("special_ids", [])
    _require(
        isinstance(special, (list, tuple)) and all(isinstance(t, int) for t in special),
        f"the special ids of {name} are not token ids",
    )

    used = {*output.tolist()}
    done = 1  # output tokens before this cycle's own: the prefill token, then what the cycles committed
    at = 0.0
    for index, cycle in enumerate(run.cycles):
        where = f"cycle {index} of {name}"
        _require(cycle.index == index, f"{where} is out of order")
        _check_cycle(cycle, where)
        _check_level(cycle, run.request.record, where)
        _require(cycle.at_ms >= at, f"{where} is committed before the one before it")
        at = cycle.at_ms
        _require(done <= len(output), f"the cycles of {name} commit more tokens than it has")
        _require(
            cycle.anchor_position == len(prompt) + done - 1 and cycle.anchor == output[done - 1],
            f"the anchor of {where} is not the last token committed before it",
        )
        _require(
            np.array_equal(cycle.committed, output[done : done + len(cycle.committed)]),
            f"{where} commits tokens that are not in the output of {name}",
        )
        done += len(cycle.committed)
        for ids in (cycle.drafted, cycle.candidates, cycle.verifier):
            used.update(() if ids is None else np.unique(ids).tolist())
    # the records of a run that was broken off may be behind its tokens
    behind = done < len(output) and run.finish_reason in BROKEN_OFF
    if run.cycles or (run.request.record != "off" and len(output)):
        _require(done == len(output) or behind, f"{name} has {len(output)} tokens, its cycles hold {done}")
    _check_pieces(run.pieces, used, name)


def _check_pieces(pieces: dict[int, str], used: set[int], name: str) -> None:
    missing = sorted(used - pieces.keys())
    _require(not missing, f"{name} has no text for token {missing[0] if missing else ''}")
    for token, piece in pieces.items():
        try:
            sound = token >= 0 and len(to_bytes(piece)) <= MAX_PIECE
        except UnicodeEncodeError:  # a surrogate that stands for no byte
            sound = False
        _require(sound, f"{name} has an unusable text for token {token}")


def _check_cycle(c: Cycle, where: str) -> None:
    n = c.submitted
    _require(0 <= c.accepted <= n, f"{where} accepts {c.accepted} of {n} submitted tokens")
    _require(_has(c.drafted, n) and _ids(c.drafted), f"{where} does not hold the {n} tokens it submitted")
    length = len(c.committed)
    _require(
        c.committed.ndim == 1 and _ids(c.committed) and c.anchor_position >= 0, f"{where} has a bad token id"
    )
    _require(
        length == c.accepted + 1 or (c.clipped and length <= c.accepted),
        f"{where} commits {length} tokens after accepting {c.accepted}",
    )
    kept = min(c.accepted, length)
    _require(
        np.array_equal(c.committed[:kept], c.drafted[:kept]), f"{where} commits other tokens than it accepted"
    )
    for ms in (c.draft_ms, c.head_ms, c.verify_ms, c.at_ms):
        _require(math.isfinite(ms) and ms >= 0, f"{where} has a time that is not a number of milliseconds")
    _require(
        c.verifier is None or (_has(c.verifier, n + 1) and _ids(c.verifier)),
        f"the verifier's tokens of {where} have the wrong shape or range",
    )
    # -inf is a probability of 0: a sampling filter may have ruled the drafted token out
    _require(
        c.drafted_logprob is None or (_has(c.drafted_logprob, n) and bool((c.drafted_logprob <= 1e-3).all())),
        f"the log-probabilities of {where} have the wrong shape or range",
    )
    if c.candidates is None:
        alone = all(x is None for x in (c.logits, c.lognorm, c.scores, c.corrected, c.confidence, c.ranks))
        _require(alone, f"{where} has scores but no candidates")
    else:
        _check_pool(c, where)


def _check_level(c: Cycle, level: str, where: str) -> None:
    if level == "dense":
        _require(c.submitted == 0 and len(c.committed) == 1, f"{where} is dense, and submits or commits a block")
        _require(c.candidates is not None, f"{where} is dense, and has no candidates")
        judged = c.verifier is not None or c.drafted_logprob is not None
        _require(not judged, f"{where} is dense, and has a verdict on what was not submitted")
    else:
        _require(c.candidates is None or c.submitted > 0, f"{where} has candidates, and submits none of them")


def _check_pool(c: Cycle, where: str) -> None:
    _require(c.candidates.ndim == 2, f"the candidates of {where} have the wrong shape")
    b, k = c.candidates.shape
    _require(
        1 <= b <= MAX_B and 1 <= k <= MAX_K and c.submitted <= b and _ids(c.candidates),
        f"the candidates of {where} have the wrong shape or range",
    )
    _require(
        c.logits is not None and _finite(c.logits, b, k) and bool((np.diff(c.logits, axis=1) <= 0).all()),
        f"the logits of {where} are not {b} x {k} numbers, best first",
    )
    _require(c.lognorm is None or _finite(c.lognorm, b), f"the log-normaliser of {where} is not {b} numbers")
    _require(
        c.scores is None or _finite(c.scores, b - 1, k, k),
        f"the transition scores of {where} are not {b - 1} x {k} x {k} numbers",
    )
    _require(
        c.corrected is None or _finite(c.corrected, b, k),
        f"the corrected scores of {where} are not {b} x {k} numbers",
    )
    _require(
        c.confidence is None or _finite(c.confidence, b) and bool(((c.confidence >= 0) & (c.confidence <= 1)).all()),
        f"the confidence of {where} is not {b} probabilities",
    )
    _require(
        c.ranks is not None and _has(c.ranks, b) and bool(((c.ranks >= -1) & (c.ranks < k)).all()),
        f"the ranks of {where} are not {b} numbers from -1 to {k - 1}",
    )
    ranks = c.ranks[: c.submitted]
    best = c.logits[np.arange(len(ranks)), np.maximum(ranks, 0)][:, None]
    held = (c.candidates[: len(ranks)] == c.drafted[:, None]) & (
        c.logits[: len(ranks)] == best
    )  # or ties with it
    _require(bool(held.any(1)[ranks >= 0].all()), f"the ranks of {where} do not name the tokens it submitted")
    if c.corrected is not None and c.scores is None:  # a serial head takes the best of its row, or what ties with it
        best = (c.corrected[np.arange(b), c.ranks] == c.corrected.max(1)) & (c.ranks >= 0)
        _require(bool(best.all()), f"the ranks of {where} are not the best of its corrected scores")


def _has(array: np.ndarray, *shape: int) -> bool:
    return array.shape == shape


def _finite(array: np.ndarray, *shape: int) -> bool:
    return _has(array, *shape) and bool(np.isfinite(array).all())


def _ids(array: np.ndarray) -> bool:
    return bool(((array >= 0) & (array < 2**31)).all())
