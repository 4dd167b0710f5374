"""vLLM entry point (`vllm.general_plugins`): called once in the front end, the engine core and every worker."""

import multiprocessing
import os
import signal
import threading


def register() -> None:
    """Make this project's draft architecture known, and tie the engine's processes to the program that started them.

    A checkpoint that names `DFlashDCOCODraftModel` loads as the DFlash drafter that it is: the corrector is no part of
    the draft model, it lies in the checkpoint's `dcoco/` folder and the proposer loads it.
    """
    from vllm import ModelRegistry

    ModelRegistry.register_model(
        "DFlashDCOCODraftModel", "vllm.model_executor.models.qwen3_dflash:DFlashQwen3ForCausalLM"
    )
    if parent := multiprocessing.parent_process():
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent) -> None:
    """vLLM's engine core outlives a front end that was killed, and keeps its memory: end it then."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
