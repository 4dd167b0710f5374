"""Which room may import which: the contracts in pyproject.toml, held by import-linter."""

import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import dcoco_viz

ROOT = Path(dcoco_viz.__file__).parents[1]


def test_imports_point_one_way():
    command = Path(sys.executable).with_name("lint-imports")  # reads the pyproject.toml of its folder
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_room_is_bound_by_a_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    bound = {module.split(".")[1] for contract in contracts for module in contract["source_modules"]}
    rooms = {module.name for module in pkgutil.iter_modules(dcoco_viz.__path__)} - {"__main__"}
    assert rooms == bound
