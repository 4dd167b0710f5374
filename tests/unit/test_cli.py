import subprocess
import sys

import pytest

from dcoco_viz import doctor


def run(*args: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "dcoco_viz", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_help_names_every_command():
    result = run("--help")
    assert result.returncode == 0
    for command in ("generate", "train", "doctor", "prepare", "findings", "import", "calibrate"):
        assert f" {command} " in result.stdout


def test_the_command_line_opens_without_the_heavy_libraries():
    heavy = {"torch", "vllm", "gradio", "transformers"}
    script = f"import sys, dcoco_viz.cli; print(*{heavy} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_train_has_its_own_help():
    result = run("train", "--help")
    assert result.returncode == 0
    assert "dcoco_viz train" in result.stdout and "run" in result.stdout


@pytest.mark.parametrize("command", [("doctor",), ("generate", "--prompt", "Hello")])
def test_an_unknown_preset_is_one_sentence(command):
    result = run(*command, "--preset", "nope")
    assert result.returncode in (1, 2)
    assert result.stdout == ""
    assert "There is no preset 'nope'" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--walk", "drunk"), "unknown walk 'drunk': its rule is one of greedy, global-sum, geometric:L, beam:W"),
        (("--walk", "beam:0"), "W is a whole number from 1 to 256, not '0'"),
        (("--raw", "--system", "Be brief."), "leave out --system"),
    ],
)
def test_a_bad_request_is_refused_before_an_engine_starts(options, words):
    result = run("generate", "--prompt", "Hello", *options)
    assert result.returncode == 2 and result.stdout == "" and "Traceback" not in result.stderr
    assert words in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.skipif(doctor.find_gpu() is not None, reason="this machine has a GPU")
def test_doctor_exits_with_1_where_a_preset_cannot_run():
    result = run("doctor", "--preset", "qwen3-8b")
    assert result.returncode == 1
    assert result.stderr == "Preset qwen3-8b cannot run here: it needs an NVIDIA GPU with 36 GiB.\n"
    assert "not run on this hardware yet" not in result.stdout and "Qwen/Qwen3-8B" in result.stdout


def test_a_cache_that_cannot_be_written_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("DCOCO_VIZ_CACHE", str(tmp_path / "file" / "cache"))
    result = run("prepare")
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.startswith("The verifier cannot be written to ") and result.stderr.count("\n") == 1
