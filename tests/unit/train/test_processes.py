"""Two real processes over gloo make of a run what one makes of it, and stop together."""

import subprocess
import sys

import pytest
import torch

from dcoco_viz.methods import checkpoint


def train(out, processes: int, stop_at: str = "") -> list[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}"]
    done = subprocess.run(
        [*command, "-m", "tests.unit.train.several", out, stop_at], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    out = tmp_path_factory.mktemp("alone") / "run"
    return out, train(out, 1)


def equal(one, other):
    for name in ("dflash", "dcoco"):
        pairs = zip(checkpoint.load(one / name), checkpoint.load(other / name), strict=True)
        for a, b in ((a, b) for a, b in pairs if a is not None):
            for key, value in a.state_dict().items():
                if key == "output.bias":  # the loss takes no notice of it: its gradient is rounding alone
                    continue
                torch.testing.assert_close(value, b.state_dict()[key], atol=1e-4, rtol=1e-2)


def test_two_processes_train_the_weights_of_one(alone, tmp_path):
    out, said = alone
    lines = train(tmp_path / "run", 2)
    equal(out, tmp_path / "run")
    steps = [line.split(" step ")[0] for line in lines if " step " in line and "/" in line]
    assert steps == ["dflash"] * 3 + ["dcoco"] * 3, lines  # each told once, by the first process


def test_a_signal_to_one_stops_both_and_the_run_goes_on_where_they_stopped(alone, tmp_path):
    lines = train(tmp_path / "run", 2, "dcoco 4")
    assert sorted(line for line in lines if line.startswith("process")) == [
        f"process {i}: stopped at step 5 of dcoco; go on with --resume" for i in range(2)
    ]
    again = train(tmp_path / "run", 2)
    assert [line.split("  ")[0] for line in again if line.startswith("dcoco step")] == ["dcoco step 6/6"]
    equal(alone[0], tmp_path / "run")
