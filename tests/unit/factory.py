"""Small synthetic runs for unit tests: sound by construction, random numbers. Never shipped as traces."""

import numpy as np

from dcoco_viz.methods import METHODS
from dcoco_viz.trace.schema import Cycle, Request, Run

VOCAB = 40
# every second piece of the vocabulary is a stray byte: half a character
PIECES = {
    t: f" w{t}" if t % 2 else bytes([0x80 + t]).decode("utf-8", "surrogateescape") for t in range(VOCAB)
}


def make_run(
    *,
    slots=4,
    pool=3,
    cycles=3,
    method="dcoco",
    record="full",
    head=True,
    submit=None,
    cut=0,
    prompt=5,
    seed=0,
) -> Run:
    """A run of `cycles` cycles: [slots, pool] candidates, `submit` slots submitted, `cut` tokens clipped.

    Its path is random and has nothing to do with its scores, but for methods whose record has `corrected`: there the
    path is the greedy one.
    """
    rng = np.random.default_rng(seed)
    drafts = method != "none"
    n = 0 if not drafts or record == "dense" else slots if submit is None else submit
    run = Run(
        id=f"run-{seed}",
        request=Request(prompt="a prompt: naïve, 𝛕, ‏עברית", method=method, record=record, seed=seed),
        prompt_ids=rng.integers(0, VOCAB, prompt).tolist(),
        token_ids=[int(rng.integers(VOCAB))],
        pieces=dict(PIECES),
        finish_reason="stop",
        seconds=0.25 * cycles,
        ttft_s=0.125,
        created="2026-01-02T03:04:05Z",
        meta={"preset": "test", "versions": {"vllm": "0"}, "special_ids": [2]},
    )
    for index in range(cycles):
        accepted = int(rng.integers(0, n + 1))
        candidates = np.stack([rng.permutation(VOCAB)[:pool] for _ in range(slots)]).astype(np.int32)
        ranks = rng.integers(0, pool, slots).astype(np.int16)
        drafted = candidates[np.arange(slots), ranks][:n]
        bonus = rng.integers(0, VOCAB, 1)
        committed = np.concatenate([drafted[:accepted], bonus]).astype(np.int32)
        last = index == cycles - 1
        committed = committed[: max(1, len(committed) - cut)] if last else committed
        cycle = Cycle(
            request_id=run.id,
            index=index,
            anchor_position=len(run.prompt_ids) + len(run.token_ids) - 1,
            anchor=run.token_ids[-1],
            method=method,
            walk="greedy",
            submitted=n,
            accepted=accepted,
            drafted=drafted,
            committed=committed,
            draft_ms=float(rng.random()) if drafts else 0.0,
            head_ms=0.0,
            verify_ms=float(rng.random()),
            at_ms=250.0 * (index + 1),
            clipped=len(committed) < accepted + 1,
        )
        if (n and record == "full") or (drafts and record == "dense"):
            cycle.candidates, cycle.ranks = candidates, ranks
            cycle.logits = -np.sort(-rng.standard_normal((slots, pool)), axis=1).astype(np.float32)
            cycle.lognorm = rng.standard_normal(slots).astype(np.float32)
            if head:
                cycle.scores = rng.standard_normal((slots - 1, pool, pool)).astype(np.float16)
                _correct(cycle, rng)
            if n:
                cycle.verifier = rng.integers(0, VOCAB, n + 1).astype(np.int32)
                cycle.drafted_logprob = -rng.random(n).astype(np.float32)
        if record != "off":
            run.cycles.append(cycle)
        run.token_ids += committed.tolist()
    return run


def _correct(cycle, rng) -> None:
    """Give the record of a serial or anchored head its scores, by which the path is the greedy one."""
    known = METHODS.get(cycle.method)
    serial, anchored = known is not None and known.serial, cycle.method == "dcoco-anchored"
    if not serial and not anchored:
        return
    slots = np.arange(len(cycle.ranks))
    first = rng.standard_normal((1, cycle.logits.shape[1]))
    rows = np.concatenate([first, cycle.scores[slots[:-1], cycle.ranks[:-1]]]).astype(np.float32)
    best = rows.argmax(1)
    rows[slots, best], rows[slots, cycle.ranks] = rows[slots, cycle.ranks], rows[slots, best]
    cycle.corrected = rows
    if cycle.method == "dspark":
        cycle.confidence = rng.uniform(size=len(slots)).astype(np.float32)
    if serial:
        cycle.scores = None
    else:
        cycle.scores[slots[:-1], cycle.ranks[:-1]] = rows[1:]
