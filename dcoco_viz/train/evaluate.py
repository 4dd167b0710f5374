"""Offline measuring, exact at T = 0: the verifier's own greedy text says what is accepted."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from dcoco_viz.lattice.accept import accepted_length
from dcoco_viz.lattice.pool import top_k
from dcoco_viz.lattice.walk import Walk
from dcoco_viz.methods.block import Block
from dcoco_viz.methods.checkpoint import TOP_K
from dcoco_viz.methods.dcoco.loss import ranks_of
from dcoco_viz.methods.dflash.model import Drafter
from dcoco_viz.methods.heads import decide
from dcoco_viz.train.data import repeats
from dcoco_viz.train.features import Sequence

GROUP = 8  # sequences walked side by side
# The head over a whole vocabulary is most of the cost, and few cycles get past the first slots: candidates of all
# slots are computed in every FULL_EVERY-th cycle (for coverage), else only where the first FIRST are accepted.
FULL_EVERY, FIRST = 8, 5
GREEDY = Walk("greedy")


class Walked(NamedTuple):
    """The cycles of one response."""

    source: str
    committed: np.ndarray  # [C] tokens each cycle committed, cut at the end of the response
    loop: np.ndarray  # [C] bool, the cycle starts inside a loop of the response
    selected: np.ndarray  # [C] accepted length of the chosen path
    pool: int  # K, candidates a slot
    full: np.ndarray  # [C] bool, the cycle's candidates were looked at in every slot
    ranks: np.ndarray  # [full, B] rank of the right token in its slot; -1 not there, -2 past the end


def walk_all(
    drafter: Drafter,
    chooser: torch.nn.Module | None,
    sequences: list[Sequence],
    embedding: torch.Tensor,
    head: torch.Tensor,
    map: Callable = map,
    walk: Walk = GREEDY,
) -> list[Walked]:
    """Decode every response cycle by cycle, by the path that a drafting head chooses or else the drafter's argmax.

    Args:
        chooser: the drafting head (methods/heads.py); None: the drafter's argmax.
        sequences: with verifier features for every token.
        embedding: [V, d] of the verifier.
        head: [V, d], the LM head of the verifier.
        map: like the built-in `map`; may spread the groups over threads.
        walk: over the transitions, where the drafting head scores a grid.
    """
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i].ids))
    groups = [order[i : i + GROUP] for i in range(0, len(order), GROUP)]

    def one(group: list[int]) -> list[Walked]:
        return _walk(drafter, chooser, [sequences[i] for i in group], embedding, head, walk)

    done = dict(zip((i for g in groups for i in g), (w for part in map(one, groups) for w in part), strict=True))
    return [done[i] for i in range(len(sequences))]


@torch.inference_mode()
def _walk(drafter, chooser, group: list[Sequence], embedding, head, walk: Walk) -> list[Walked]:
    device, block = head.device, drafter.config.block_size
    lengths = torch.tensor([len(s.ids) for s in group], device=device)
    ids = torch.full((len(group), int(lengths.max()) + block), -1, device=device)
    features = torch.zeros(len(group), int(lengths.max()), group[0].hidden.shape[-1], device=device)
    for i, s in enumerate(group):
        ids[i, : len(s.ids)], features[i, : len(s.ids)] = s.ids.to(device), s.hidden.to(device).float()
    loops = [[False] * s.prompt + repeats(s.ids[s.prompt :].tolist()) for s in group]
    context, cycles, round_ = drafter.context(features), [[] for _ in group], 0
    # A walk that weighs a whole block, unlike greedy, chooses its first slots by the later ones.
    first = FIRST if walk.rule == "greedy" else block - 1
    # The prefill gave the first response token: it is the first anchor.
    anchors = torch.tensor([s.prompt for s in group], device=device)
    while len(alive := (anchors < lengths - 1).nonzero().squeeze(-1)):
        at = anchors[alive]
        tokens = torch.full((len(alive), 1, block), drafter.config.mask_token_id, device=device)
        tokens[:, 0, 0] = ids[alive, at]
        seen = [(k[alive], v[alive]) for k, v in context]
        hidden = drafter(embedding[tokens], at[:, None], seen)[:, 0]
        truth = ids[alive[:, None], at[:, None] + torch.arange(1, block, device=device)]
        full = round_ % FULL_EVERY == 0
        slots = block - 1 if full else first
        part = (tokens[:, 0, 0], hidden[:, : slots + 1], truth[:, :slots])
        accepted, right = _accept(chooser, *part, embedding, head, walk)
        if slots < block - 1 and len(whole := (accepted == slots).nonzero().squeeze(-1)):
            part = (tokens[whole, 0, 0], hidden[whole], truth[whole])
            accepted[whole] = _accept(chooser, *part, embedding, head, walk)[0]
        committed = torch.minimum(accepted + 1, lengths[alive] - 1 - at)
        anchors[alive] += committed
        rows = zip(alive.tolist(), at.tolist(), committed.tolist(), accepted.tolist(), right.cpu().numpy(), strict=True)
        for i, position, count, length, rank in rows:
            cycles[i].append((count, loops[i][position + 1], length, rank if full else None))
        round_ += 1
    k = TOP_K if chooser is None else chooser.top_k
    return [_pack(s, c, block - 1, k) for s, c in zip(group, cycles, strict=True)]


def _accept(chooser, anchor, hidden, truth, embedding, head, walk: Walk) -> tuple[torch.Tensor, torch.Tensor]:
    """Accepted length [R] of the chosen path, and the rank of the right token at every slot [R, slots]."""
    slots = hidden[:, 1:]
    logits = (slots.flatten(0, 1) @ head.T).unflatten(0, slots.shape[:2])
    pool = top_k(logits, TOP_K if chooser is None else chooser.top_k, normalise=False)
    chosen = pool.ids[..., 0]
    if chooser is not None:
        block = Block(hidden, anchor, pool.ids, pool.logits, lambda ids: embedding[ids])
        ranks = decide(chooser, block, [walk] * len(anchor)).ranks
        chosen = pool.ids.gather(-1, ranks[..., None]).squeeze(-1)
    right = ranks_of(pool.ids, truth).masked_fill(truth < 0, -2)
    return accepted_length(chosen, truth), right


def _pack(sequence: Sequence, cycles: list, slots: int, k: int) -> Walked:
    count, loop, length, ranks = zip(*cycles, strict=True) if cycles else ((), (), (), ())
    full = np.array([r is not None for r in ranks], bool)
    ranks = np.array([r for r in ranks if r is not None], np.int8).reshape(-1, slots)
    return Walked(sequence.source, np.array(count, int), np.array(loop, bool), np.array(length, int), k, full, ranks)


def tau(walked: list[Walked], loops: bool = True) -> float:
    """Pooled tau: committed tokens / cycles. With `loops` false, over the cycles that start outside loops."""
    cycles = [(w.committed if loops else w.committed[~w.loop]) for w in walked]
    return float(np.concatenate(cycles).mean()) if sum(map(len, cycles)) else float("nan")


def _totals(walked: list[Walked], loops: bool) -> np.ndarray:
    keep = [w.committed if loops else w.committed[~w.loop] for w in walked]
    return np.array([(k.sum(), len(k)) for k in keep], float)


def interval(walked: list[Walked], other: list[Walked] | None = None, loops: bool = True, draws: int = 4000) -> list:
    """95% bootstrap interval over prompts of tau, or of the paired difference tau(walked) - tau(other)."""
    picks = np.random.default_rng(0).integers(len(walked), size=(draws, len(walked)))
    values = 0.0
    for sign, part in ((1, walked), (-1, other)):
        if part is not None:
            sums = _totals(part, loops)[picks].sum(1)
            values = values + sign * sums[:, 0] / np.maximum(sums[:, 1], 1)
    return [round(float(v), 4) for v in np.percentile(values, [2.5, 97.5])]


def coverage(walked: list[Walked], k: int) -> list[float]:
    """Top-k coverage by slot: share of slots inside a response whose k best hold the right token."""
    ranks = np.concatenate([w.ranks for w in walked])
    inside = (ranks > -2).sum(0)
    return [round(float(x), 4) for x in ((ranks >= 0) & (ranks < k)).sum(0) / np.maximum(inside, 1)]


def prefixes(walked: list[Walked]) -> dict[str, float]:
    """Mean accepted length of the drafter's argmax path, the chosen path, and the pool's best path.

    `helped` and `harmed`: share of cycles in which the chosen path came further, or less far, than the argmax path.
    """
    ranks = np.concatenate([w.ranks for w in walked])
    top1 = np.cumprod(ranks == 0, 1).sum(1)
    oracle = np.cumprod(ranks >= 0, 1).sum(1)
    chosen = np.concatenate([w.selected[w.full] for w in walked])
    shares = {"top1": top1, "selected": chosen, "oracle": oracle, "helped": chosen > top1, "harmed": chosen < top1}
    return {name: round(float(values.mean()), 4) for name, values in shares.items()}


def figures(walked: list[Walked]) -> dict:
    """Everything the model card says about one way of walking."""
    by_source = {}
    for source in sorted({w.source for w in walked}):
        part = [w for w in walked if w.source == source]
        by_source[source] = {"tau": round(tau(part), 4), "interval": interval(part), "prompts": len(part)}
    return {
        "prompts": len(walked),
        "cycles": int(sum(len(w.committed) for w in walked)),
        "cycles_with_all_slots": int(sum(w.full.sum() for w in walked)),
        "pooled": {"tau": round(tau(walked), 4), "interval": interval(walked)},
        "without_loop_tokens": {
            "tau": round(tau(walked, False), 4),
            "interval": interval(walked, loops=False),
        },
        "by_source": by_source,
        "coverage_by_slot": {str(k): coverage(walked, k) for k in (1, 2, 4, 8, 16) if k <= walked[0].pool},
        "prefix": prefixes(walked),
    }
