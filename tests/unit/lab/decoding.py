"""A decoder in plain Python: sound runs over a known text, and walks without tensors to check the lab against.

The proposal at a position is a function of the seed and the position alone, as a drafter's is of the text before it, so
that a dense trace and a run of the same text hold the same blocks.
"""

import itertools
import math

import numpy as np

from dcoco_viz.trace.schema import Cycle, Request, Run

VOCAB = 6
PROMPT = [1, 2, 3]


def proposal(seed: int, at: int, slots: int, pool: int) -> dict[str, np.ndarray]:
    """Candidates, logits, normalisers and scores of the block after output token `at`. Scores tie often."""
    rng = np.random.default_rng([seed, at])
    candidates = np.stack([rng.permutation(VOCAB)[:pool] for _ in range(slots)]).astype(np.int32)
    logits = -np.sort(-rng.normal(0, 2, (slots, pool)), axis=1).astype(np.float32)
    lognorm = (np.log(np.exp(logits).sum(1)) + rng.random(slots) * 0.3).astype(np.float32)
    scores = (rng.integers(-8, 9, (slots - 1, pool, pool)) / 4).astype(np.float16)
    return {"candidates": candidates, "logits": logits, "lognorm": lognorm, "scores": scores}


def walked(name: str, block: dict[str, np.ndarray]) -> list[int]:
    """The path of greedy, or by brute force of global-sum and geometric:L; of equals the first.

    `first` in the block are the scores of slot 1 where these are not the draft logits.
    """
    logits, scores = block["logits"].tolist(), block["scores"].astype(float).tolist()
    opening = np.asarray(block.get("first", logits[0])).tolist()
    first = opening.index(max(opening))
    if name == "greedy":
        path = [first]
        for transition in scores:
            row = transition[path[-1]]
            path.append(row.index(max(row)))
        return path
    weight = 1.0 if name == "global-sum" else float(name.partition(":")[2])
    rest = itertools.product(range(len(logits[0])), repeat=len(logits) - 1)

    def worth(path):
        steps = zip(scores, path, path[1:], strict=False)
        return sum(weight**p * transition[a][b] for p, (transition, a, b) in enumerate(steps))

    return list(max(((first, *ranks) for ranks in rest), key=worth))


def cut(block: dict[str, np.ndarray], path: list[int], share: float) -> int:
    """Slots of a path whose probabilities multiply to `share` at least; one slot always goes out."""
    sent, product = 0, 1.0
    for logits, norm, rank in zip(block["logits"], block["lognorm"], path, strict=True):
        product *= math.exp(float(np.float32(logits[rank] - norm)))
        if product < share:
            break
        sent += 1
    return max(1, sent)


def agrees(candidates, path: list[int], sent: int, rest: list[int]) -> int:
    """Leading submitted tokens of a path that are the text's next ones."""
    length = 0
    while length < min(sent, len(rest)) and candidates[length][path[length]] == rest[length]:
        length += 1
    return length


def recorded(method: str, seed: int, at: int, block: dict, walk: str) -> tuple[dict[str, np.ndarray], list[int]]:
    """The block as a run of that method records it, and the path that it takes."""
    serial = method in ("domino", "dspark")
    if not serial and method != "dcoco-anchored":
        return block, walked(walk, block)
    first = np.random.default_rng([seed, at, 1]).integers(-8, 9, block["logits"].shape[1]) / 4
    path = walked("greedy" if serial else walk, {**block, "first": first})
    rows = [first, *(block["scores"][p, path[p]] for p in range(len(path) - 1))]
    return {**block, "corrected": np.array(rows, np.float32), "scores": None if serial else block["scores"]}, path


def decode(
    seed: int, *, length: int, slots: int, pool: int, walk="greedy", limit=15, dense=False, method="dcoco"
) -> Run:
    """Decode a random text with that walk, at most `limit` slots a cycle; or draft everywhere and submit nothing.

    A serial method records the scores of its path alone; its walk is greedy.
    """
    rng = np.random.default_rng(seed)
    text = rng.integers(0, VOCAB, length).tolist()
    run = Run(
        f"run-{seed}",
        Request(
            prompt="p", method=method, walk=walk, slots=limit, max_tokens=length, record="dense" if dense else "full"
        ),
        list(PROMPT),
        text[:1],
        pieces={t: f" t{t}" for t in range(VOCAB)},
        finish_reason="length",
        seconds=1.0,
        meta={"preset": "test", "dtype": "float32", "hardware": "paper"},
    )
    while len(run.token_ids) < length:
        at = len(run.token_ids) - 1
        block, path = recorded(method, seed, at, proposal(seed, at, slots, pool), walk)
        sent = 0 if dense else min(limit, slots)
        drafted = [int(block["candidates"][j][path[j]]) for j in range(sent)]
        accepted = agrees(block["candidates"], path, sent, text[at + 1 :])
        committed = text[at + 1 : at + 2 + accepted]
        run.cycles.append(
            Cycle(
                run.id, len(run.cycles), len(PROMPT) + at, text[at], method, walk, sent, accepted,
                np.array(drafted, np.int32), np.array(committed, np.int32),
                draft_ms=2.0, head_ms=1.0, verify_ms=10.0 + sent, clipped=len(committed) < accepted + 1,
                ranks=np.array(path, np.int16), verifier=None if dense else np.zeros(sent + 1, np.int32),
                drafted_logprob=None if dense else np.zeros(sent, np.float32), **block,
            )
        )  # fmt: skip
        run.token_ids += committed
    return run
