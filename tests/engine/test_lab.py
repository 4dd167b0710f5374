"""What the lab says of a walk from a dense trace is what the engine does with that walk."""

import pytest

from dcoco_viz.lab.dense import find, parted, simulate
from dcoco_viz.lab.replay import replay
from dcoco_viz.metrics.prefix import tau
from tests.engine.conftest import PROMPTS, run

TOKENS = 40


@pytest.mark.parametrize("prompt", PROMPTS[:2])
async def test_the_tau_of_a_dense_trace_is_the_engines(session, prompt):
    dense = await run(session, prompt, "dcoco", max_tokens=TOKENS, record="dense")
    for walk, slots in (("greedy", 15), ("greedy", 3), ("global-sum", 15), ("beam:4+k:8", 7), ("greedy+cut:0.3", 15)):
        real = await run(session, prompt, "dcoco", max_tokens=TOKENS, walk=walk, slots=slots)
        assert parted(real, dense) is None and find(real, [dense]) is dense
        found = simulate(dense, replay(dense, [walk], slots=slots)[0])
        assert found.anchors == [cycle.anchor_position - len(real.prompt_ids) for cycle in real.cycles], (walk, slots)
        assert found.submitted == [cycle.submitted for cycle in real.cycles]
        assert found.committed == [len(cycle.committed) for cycle in real.cycles]
        assert found.tau == tau(real)
