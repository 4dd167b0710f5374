"""Where training runs, and in what numbers."""

from concurrent.futures import ThreadPoolExecutor

import torch
from accelerate import PartialState

from dcoco_viz import hardware


def processes() -> PartialState:
    """This process among those that torchrun or `accelerate launch` started; itself alone otherwise."""
    return PartialState(cpu=not torch.cuda.is_available())  # without this, processes on CPUs do not find each other


def device() -> torch.device:
    """This process's CUDA GPU where there are any, else the CPU."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", processes().local_process_index)


def fast_dtype() -> torch.dtype:
    """bfloat16 where the hardware multiplies it natively, else float32, which is then far faster."""
    return getattr(torch, hardware.native_dtype())


def workers(where: torch.device) -> ThreadPoolExecutor:
    """Threads for independent pieces of work, one a core (one in all on a GPU), each single-threaded.

    Pieces that each keep to one core are not held up by the slowest core, as one piece spread over all would
    be whenever something else runs on the machine.
    """
    count = torch.get_num_threads() if where.type == "cpu" else 1
    torch.set_num_threads(max(1, torch.get_num_threads() // count))
    return ThreadPoolExecutor(count)
