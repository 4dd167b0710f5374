"""What one step trains on, as a pure function of the step's number: a run can stop and go on anywhere."""

from typing import NamedTuple

import torch

from dcoco_viz.train.features import Sequence, Store

SHORT, LONG = 8, 16


class Blocks(NamedTuple):
    """N blocks of length L in each of S sequences, with the labels of their L-1 slots."""

    features: torch.Tensor  # [S, T, layers * d] bfloat16, zero-padded
    tokens: torch.Tensor  # [S, N, L] int64: anchor, mask, mask, ...
    anchors: torch.Tensor  # [S, N] int64, the anchor's position
    labels: torch.Tensor  # [S, N, L-1] int64, the verifier's own next tokens
    valid: torch.Tensor  # [S, N, L-1] bool, the slot lies inside the response
    soft_ids: torch.Tensor  # [S, N, L-1, TOP] int64
    soft_logp: torch.Tensor  # [S, N, L-1, TOP] float32


def chosen(step: int, sequences: int, total: int, seed: int) -> list[int]:
    """Numbers of the sequences of a step: every epoch is its own random order of all sequences."""
    first, picked = step * sequences, []
    for n in range(first, first + sequences):
        epoch, place = divmod(n, total)
        order = torch.randperm(total, generator=torch.Generator().manual_seed(seed * 1_000_003 + epoch))
        picked.append(int(order[place]))
    return picked


def block_length(step: int, long_share: float, seed: int) -> int:
    """SHORT or LONG, drawn for the whole step."""
    draw = torch.rand((), generator=torch.Generator().manual_seed(seed * 7_368_787 + step))
    return LONG if draw < long_share else SHORT


def micro_batches(store: Store, picked: list[int], micro: int, blocks: int, length: int, mask: int, seed: int) -> list:
    """A step's sequences by length in groups of `micro`, with random anchors in each: list of Blocks."""
    rng = torch.Generator().manual_seed(seed)
    sequences = sorted((store[i] for i in picked), key=lambda s: len(s.ids))
    return [_blocks(sequences[i : i + micro], blocks, length, mask, rng) for i in range(0, len(sequences), micro)]


def _blocks(sequences: list[Sequence], n: int, length: int, mask: int, rng: torch.Generator) -> Blocks:
    rows = [_one(s, n, length, mask, rng) for s in sequences]
    longest = max(len(s.ids) for s in sequences)
    features = torch.stack([torch.nn.functional.pad(s.hidden, (0, 0, 0, longest - len(s.ids))) for s in sequences])
    return Blocks(features, *(torch.stack(part) for part in zip(*rows, strict=True)))


def _one(s: Sequence, n: int, length: int, mask: int, rng: torch.Generator) -> tuple:
    # Any response token but the last can be an anchor; short responses repeat some.
    choices = len(s.ids) - s.prompt - 1
    picks = torch.randperm(choices, generator=rng)[:n] if choices >= n else torch.randint(choices, (n,), generator=rng)
    anchors = s.prompt + picks
    slots = anchors[:, None] + torch.arange(1, length)
    valid, slots = slots < len(s.ids), slots.clamp(max=len(s.ids) - 1)
    tokens = torch.full((n, length), mask)
    tokens[:, 0] = s.ids[anchors]
    # Row i of the verifier's view predicts token i + 1.
    return tokens, anchors, s.ids[slots], valid, s.top_ids[slots - 1], s.top_logp[slots - 1]
