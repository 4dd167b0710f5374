"""The command, and the page in the repository."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from dcoco_viz.cli import app
from dcoco_viz.findings.cli import OUT, RESULTS
from dcoco_viz.findings.page import page
from dcoco_viz.findings.results import load
from tests.unit.findings.made import results, way, write


def call(*args):
    return CliRunner().invoke(app, ["findings", *map(str, args)])


def test_the_page_in_the_repository_is_what_the_results_give():
    assert OUT.read_bytes() == page(load(RESULTS)).encode(), "write it again: python -m dcoco_viz findings"


def test_check_tells_whether_the_page_is_up_to_date(tmp_path):
    places = ("--results", tmp_path, "--out", tmp_path / "page.md")
    missing = call("--check", *places)
    assert missing.exit_code == 1 and not (tmp_path / "page.md").exists()
    assert call(*places).exit_code == 0
    assert call("--check", *places).exit_code == 0
    first = (tmp_path / "page.md").read_bytes()
    write(tmp_path, results("walks", {"greedy": way(2.0)}))
    stale = call("--check", *places)
    assert stale.exit_code == 1 and (tmp_path / "page.md").read_bytes() == first
    assert call(*places).exit_code == 0 and (tmp_path / "page.md").read_bytes() != first


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--check", "--results", "{0}", "--out", "{0}/page.md"), "page.md is not what the results give"),
        (("--results", "{0}/none"), "There is no folder "),
        (("--results", "{0}", "--out", "{0}/none/page.md"), "cannot be used: No such file or directory."),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path, args, words):
    command = [sys.executable, "-m", "dcoco_viz", "findings", *(arg.format(tmp_path) for arg in args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and done.stdout == ""
    assert words in done.stderr and done.stderr.count("\n") == 1


def test_a_bad_results_file_is_one_sentence(tmp_path):
    (tmp_path / "walks.json").write_text("{}")
    done = call("--results", tmp_path, "--out", tmp_path / "page.md")
    assert done.exit_code == 1 and not (tmp_path / "page.md").exists()


def test_no_heavy_library_is_loaded():
    script = "import sys, dcoco_viz.findings.page; print(*{'torch', 'vllm', 'gradio'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == ""
