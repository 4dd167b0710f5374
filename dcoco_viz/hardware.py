"""What this machine computes with."""

import functools
import os
import platform
from pathlib import Path


@functools.cache
def _cpuinfo(key: str) -> str:
    """The first value of this key in /proc/cpuinfo; empty where it cannot be read."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":")[1].strip() for line in lines if line.startswith(key)), "")


def cpu_flags() -> frozenset[str]:
    """The CPU's feature flags as Linux names them; empty where they cannot be read."""
    return frozenset(_cpuinfo("flags").split())


def cpu_has_bf16() -> bool:
    """Whether the CPU multiplies bfloat16 natively. Where it does not, float32 is several times faster."""
    return bool(cpu_flags() & {"avx512_bf16", "amx_bf16"}) or platform.machine() == "aarch64"


def native_dtype() -> str:
    """The fastest of float32 and bfloat16 on the device that torch will use."""
    import torch

    return "bfloat16" if torch.cuda.is_available() or cpu_has_bf16() else "float32"


def describe() -> str:
    """One line for a trace's metadata: the GPU, or the CPU and how many cores of it."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{_cpuinfo('model name') or platform.machine()}, {len(os.sched_getaffinity(0))} cores"
