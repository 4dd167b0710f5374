"""What a step costs here and now, and from it how many slots are worth submitting, and whether drafting is."""

from collections import deque
from statistics import median

import numpy as np
import torch

from dcoco_viz.lattice.slots import Share, share

KEPT = 16  # last measurements of each size
NEAR = 2.0  # a size twice as large or small counts 1 / (1 + NEAR ln 2) as much
RECENT = 8  # cycles whose gain decides whether a drafter goes on
TRIES = 4  # cycles drafted before the first rest, and between two
LONGEST_REST = 32  # steps


class Pace:
    """Learns the cost curve of the verifier and of every drafter from the steps that run anyway.

    Where drafting, at its best number of slots, makes fewer tokens a second than plain steps, a drafter rests: for
    two steps first, then, as long as the TRIES after it fail too, for twice as many, up to LONGEST_REST.
    """

    def __init__(self) -> None:
        self._verify: dict[int, deque[float]] = {}  # tokens of a step -> seconds
        self._draft: dict[tuple[str, int], deque[float]] = {}  # drafter and rows -> seconds
        self._gains: dict[str, deque[float]] = {}  # drafter -> since its last rest, log(tokens/s with it / without)
        self._rest: dict[str, int] = {}  # drafter -> steps left to rest
        self._length: dict[str, int] = {}  # drafter -> length of its last rest

    def verified(self, tokens: int, seconds: float) -> None:
        """A verifier step over so many tokens, without any prefill in it, took so long."""
        self._verify.setdefault(tokens, deque(maxlen=KEPT)).append(seconds)

    def drafted(self, drafter: str, rows: int, seconds: float) -> None:
        """Drafting a block for each of so many requests took so long."""
        self._draft.setdefault((drafter, rows), deque(maxlen=KEPT)).append(seconds)

    def seconds(self, tokens: np.ndarray) -> np.ndarray | None:
        """The cost curve at [N] numbers of tokens; None while fewer than two sizes were measured.

        A line through the medians, in which sizes near to the asked ones count most.
        """
        if len(self._verify) < 2:
            return None
        sizes = np.array(list(self._verify), float)
        took = np.array([median(found) for found in self._verify.values()])
        weight = np.array([len(found) for found in self._verify.values()], float)
        weight /= 1 + NEAR * abs(np.log(sizes / np.median(tokens)))
        mean, level = np.average(sizes, weights=weight), np.average(took, weights=weight)
        slope = (weight * (sizes - mean) * (took - level)).sum() / (weight * (sizes - mean) ** 2).sum()
        return np.maximum(level + max(0.0, slope) * (tokens - mean), took.min() / 2)

    def choose(self, drafter: str, survival: torch.Tensor, beside: int = 0, tokens: int = 0) -> list[int]:
        """Slots to submit of every request of a drafter's pass.

        Args:
            survival: [R, B], see lattice/slots.py.
            beside: other requests of the same step.
            tokens: that these put into it.
        """
        rows, slots = survival.shape
        curve = self.seconds(tokens + rows + np.arange(rows * slots + 1.0))
        took = [s for (name, n), kept in self._draft.items() if name == drafter and n == rows for s in kept]
        if curve is None or not took:
            return (survival > 0).sum(-1).tolist()  # all: what a step costs has to be seen first
        found: Share = share(survival, torch.from_numpy(curve), median(took), beside)
        gains = self._gains.setdefault(drafter, deque(maxlen=RECENT))
        gains.append(float(np.log(found.rate * curve[0] / (rows + beside))))
        if sum(gains) >= 0:
            self._length.pop(drafter, None)
        elif len(gains) >= TRIES:
            gains.clear()
            self._length[drafter] = self._rest[drafter] = min(LONGEST_REST, 2 * self._length.get(drafter, 1))
        return found.slots

    def rests(self, drafter: str) -> bool:
        """Whether the drafter rests in this step; asked once a step."""
        left = self._rest.get(drafter, 0)
        if left:
            self._rest[drafter] = left - 1
        return left > 0
