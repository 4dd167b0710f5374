"""vLLM entry point (`vllm.general_plugins`): makes the draft architectures of this project known.

vLLM calls `register` in the front end, the engine core and every worker, before a model is built.
"""


def register() -> None:
    """Let a checkpoint that names `DFlashDCOCODraftModel` load as the DFlash drafter that it is.

    The corrector is no part of the draft model: it lies in the checkpoint's `dcoco/` folder and the proposer loads it.
    """
    from vllm import ModelRegistry

    ModelRegistry.register_model(
        "DFlashDCOCODraftModel", "vllm.model_executor.models.qwen3_dflash:DFlashQwen3ForCausalLM"
    )
