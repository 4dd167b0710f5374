"""One small run, small enough to work every metric out by hand.

Prompt: 3 tokens, positions 0..2. Output: 10 11 12 13 14 15 16 17, positions 3..10. B = 4, K = 2. * is chosen.

cycle  anchor  truth          candidates                            submitted  accepted  committed
0      10 @ 3  11 12 13 14    11* 90 | 91 12* | 13* 92 | 93* 94     4          3         11 12 13 14
1      14 @ 7  15 16 17  -    90* 15 | 16* 91 | 92 17* | 93* 94     4          0         15
2      15 @ 8  16 17  -  -    16* 90 | 17* 91 | 92* 93 | 94* 95     2          2         16 17, clipped
"""

import numpy as np
import pytest

from dcoco_viz.trace.check import check
from dcoco_viz.trace.schema import Cycle, Request, Run


def cycle(index, position, anchor, candidates, ranks, n, accepted, committed, ms, clipped=False) -> Cycle:
    candidates, ranks = np.array(candidates, np.int32), np.array(ranks, np.int16)
    return Cycle(
        request_id="hand",
        index=index,
        anchor_position=position,
        anchor=anchor,
        method="dcoco",
        walk="greedy",
        submitted=n,
        accepted=accepted,
        drafted=candidates[np.arange(4), ranks][:n],
        committed=np.array(committed, np.int32),
        draft_ms=ms[0],
        head_ms=ms[1],
        verify_ms=ms[2],
        clipped=clipped,
        candidates=candidates,
        logits=np.zeros((4, 2), np.float32),
        ranks=ranks,
    )


@pytest.fixture
def run() -> Run:
    run = Run("hand", Request(prompt="x"), [1, 2, 3], list(range(10, 18)), seconds=3.5)
    run.finish_reason = "stop"
    run.pieces = {token: f" {token}" for token in range(100)}
    run.cycles = [
        cycle(
            0,
            3,
            10,
            [[11, 90], [91, 12], [13, 92], [93, 94]],
            [0, 1, 0, 0],
            4,
            3,
            [11, 12, 13, 14],
            (2, 0.5, 10),
        ),
        cycle(1, 7, 14, [[90, 15], [16, 91], [92, 17], [93, 94]], [0, 0, 1, 0], 4, 0, [15], (4, 0.1, 20)),
        cycle(
            2,
            8,
            15,
            [[16, 90], [17, 91], [92, 93], [94, 95]],
            [0, 0, 0, 0],
            2,
            2,
            [16, 17],
            (9, 0.3, 60),
            True,
        ),
    ]
    check([run])
    return run
