import multiprocessing
import subprocess
import sys

import pytest

from dcoco_viz.engine import preload

cpu_only = pytest.mark.skipif(not preload.is_cpu_build(), reason="a GPU build of vLLM preloads nothing")


def _loaded(queue) -> None:
    with open("/proc/self/maps") as maps:
        queue.put({line.split("/")[-1].strip() for line in maps if ".so" in line})


@cpu_only
def test_a_spawned_process_has_the_libraries(monkeypatch):
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    for name, value in preload.environment().items():
        monkeypatch.setenv(name, value)
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    process = context.Process(target=_loaded, args=(queue,))
    process.start()
    loaded = queue.get()
    process.join()
    assert "libiomp5.so" in loaded
    assert any(name.startswith("libtcmalloc") for name in loaded) == (preload.tcmalloc() is not None)


@cpu_only
def test_a_second_call_adds_nothing():
    script = (
        "import os; from dcoco_viz.engine import preload; preload.apply(); before = dict(os.environ);"
        "preload.apply(); assert os.environ == before and not preload.environment();"
        "print(os.environ['LD_PRELOAD'])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.count("libiomp5") == 1


@cpu_only
def test_what_the_user_preloads_stays(monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/opt/mine/libtcmalloc_minimal.so.4 /opt/mine/other.so")
    value = preload.environment()["LD_PRELOAD"]
    assert value == f"{preload.openmp()}:/opt/mine/libtcmalloc_minimal.so.4:/opt/mine/other.so"


@cpu_only
def test_a_missing_tcmalloc_is_no_failure(monkeypatch):
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    monkeypatch.setattr(preload, "_TCMALLOC", ("/nowhere",))
    assert preload.environment()["LD_PRELOAD"] == str(preload.openmp())


def test_the_runner_is_v1_unless_the_user_says_otherwise(monkeypatch):
    monkeypatch.delenv("VLLM_USE_V2_MODEL_RUNNER", raising=False)
    assert preload.environment()["VLLM_USE_V2_MODEL_RUNNER"] == "0"
    monkeypatch.setenv("VLLM_USE_V2_MODEL_RUNNER", "1")
    assert "VLLM_USE_V2_MODEL_RUNNER" not in preload.environment()
