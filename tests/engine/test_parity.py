"""The engine drafts what the trainer's own arithmetic drafts, by every checkpoint that it serves."""

from pathlib import Path

import pytest
import torch

from dcoco_viz import verifier
from dcoco_viz.methods import METHODS, checkpoint
from dcoco_viz.parity import Offline
from tests.engine.conftest import PROMPTS, run

WALKS = {"dcoco": ("greedy", "beam:4"), "selector": ("greedy", "global-sum")}


@pytest.fixture(scope="module")
def offline():
    return Offline(verifier.prepare())


async def test_every_method_drafts_the_same_without_the_engine(session, preset, offline):
    for name in session.methods:
        if (drafter := METHODS[name].drafter) is None:
            continue
        runs = [
            await run(session, prompt, name, walk=walk, max_tokens=24)
            for prompt in PROMPTS[:2]
            for walk in WALKS.get(name, ("greedy",))
        ]
        (found,) = offline.compare(runs, preset.drafters[drafter])
        assert found.cycles == sum(len(r.cycles) for r in runs) and found.cycles - found.equal == len(found.differences)
        assert not found.faults, found
        assert found.equal > 0.9 * found.cycles


async def test_another_checkpoint_is_found_out(session, preset, offline, tmp_path):
    drafter, head = checkpoint.load(Path(preset.drafters["dcoco"]))
    runs = [await run(session, PROMPTS[0], "dcoco", max_tokens=24)]
    torch.manual_seed(0)
    with torch.no_grad():
        head.output.weight.normal_()
    checkpoint.save(tmp_path / "head", drafter, head, torch.float32)
    assert offline.compare(runs, tmp_path / "head")[0].faults
    _, head = checkpoint.load(Path(preset.drafters["dcoco"]))
    with torch.no_grad():
        drafter.layers[0].mlp.down_proj.weight.mul_(1.5)
    checkpoint.save(tmp_path / "drafter", drafter, head, torch.float32)
    assert offline.compare(runs, tmp_path / "drafter")[0].faults


async def test_runs_that_cannot_be_compared_are_refused(session, preset, offline):
    light = await run(session, PROMPTS[0], "dcoco", max_tokens=4, record="light")
    with pytest.raises(ValueError, match="recorded in full"):
        offline.compare([light], preset.drafters["dcoco"])
