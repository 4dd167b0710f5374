"""Repetition loops: a stretch of text in which the same tokens come again and again."""

from typing import NamedTuple

import numpy as np

TIMES = 3  # repeats in a row that make a loop
LONGEST = 512  # tokens of an n-gram: what repeats more slowly is no loop, and the search stays quick
LEAST = 24  # tokens that it covers at least: three blanks are no loop


class Loop(NamedTuple):
    """The stretch of the text that repeats."""

    gram: tuple[int, ...]  # the token ids that repeat
    start: int  # where the stretch begins, an index into the output tokens
    covered: int  # how many tokens it covers, a last incomplete repeat included

    @property
    def times(self) -> int:
        """Whole repeats, the first one counted."""
        return self.covered // len(self.gram)


def loop(tokens: list[int]) -> Loop | None:
    """The longest stretch in which an n-gram stands TIMES times or more in a row over LEAST tokens or more.

    An n-gram has LONGEST tokens at most. Of stretches that are equally long the one with the shortest n-gram counts,
    then the first one.

    Args:
        tokens: output token ids, as in `Run.token_ids`.
    """
    ids, best = np.asarray(tokens, np.int64), None
    for n in range(1, min(LONGEST, len(ids) // TIMES) + 1):
        start, same = _longest(ids[n:] == ids[:-n])
        covered = same + n
        if same >= (TIMES - 1) * n and covered >= LEAST and (best is None or covered > best.covered):
            best = Loop(tuple(ids[start : start + n].tolist()), start, covered)
    return best


def _longest(good: np.ndarray) -> tuple[int, int]:
    """(start, length) of the first longest run of true values; (0, 0) without any."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], good.astype(np.int8), [0]))))
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    if not len(starts):
        return 0, 0
    i = int(lengths.argmax())
    return int(starts[i]), int(lengths[i])
