"""A replay needs no engine: vLLM is never imported, and torch neither."""

import subprocess
import sys

from dcoco_viz.presets import ROOT

SCRIPT = """
import sys
from dcoco_viz.page import create
from dcoco_viz.tabs.engine import Engine
from dcoco_viz.trace import files
create(Engine(None), files.load(sys.argv[1]))
print(sorted({"vllm", "torch"} & sys.modules.keys()))
"""


def test_a_replay_imports_no_engine(recorded):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(recorded[0])], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().splitlines()[-1] == "[]"
