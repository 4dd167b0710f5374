"""From a preset to a vLLM engine configuration."""

import json
import platform
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import vllm
from vllm.engine.arg_utils import AsyncEngineArgs

from dcoco_viz import __version__, hardware, verifier
from dcoco_viz.methods import METHODS, Method
from dcoco_viz.methods.checkpoint import TOP_K, kind_of
from dcoco_viz.methods.heads import KINDS
from dcoco_viz.presets import EMBEDDED, ROOT, Preset, is_local

# V1 stops drafting for the whole batch when one request comes within a block of the engine's length limit, so the
# engine gets two blocks more than requests may use.
HEADROOM = 2 * 16 + 1
# Two drafters share one engine when they agree on all that decides a tensor's shape or meaning.
SHAPE = (
    "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size",
    "vocab_size", "rms_norm_eps", "rope_theta", "rope_parameters", "block_size", "num_target_layers", "dflash_config",
)  # fmt: skip


class LaunchError(RuntimeError):
    """The engine cannot be started as asked; one sentence says why and what to do."""


@dataclass(frozen=True)
class Setup:
    """A checked configuration."""

    args: AsyncEngineArgs
    dtype: str
    methods: list[str]  # those this preset has the drafters for
    limit: int  # longest prompt + output, tokens
    meta: dict[str, Any]  # goes into every trace


def prepare(preset: Preset, dtype: str, progress: Callable[[str], None]) -> Setup:
    """Fetch what the preset names, check that it fits together, and configure the engine.

    Raises:
        LaunchError: something is missing or does not match.
    """
    if dtype == "auto":
        dtype = preset.dtype if preset.dtype != "auto" else hardware.native_dtype()
    progress("preparing the verifier")
    model = str(verifier.prepare(progress)) if preset.verifier == EMBEDDED else preset.verifier
    progress("preparing the drafters")
    drafters = {name: _fetch(place) for name, place in preset.drafters.items()}
    if not drafters:
        raise LaunchError(f"Preset {preset.name} names no drafter: add one to assets/presets.toml.")
    configs = {name: json.loads((Path(path) / "config.json").read_text()) for name, path in drafters.items()}
    block = _check(configs)
    methods = ["none", *(m.name for m in METHODS.values() if m.drafter in configs and _serves(m, configs[m.drafter]))]
    args = AsyncEngineArgs(
        model=model,
        dtype=dtype,
        max_model_len=preset.max_model_len + HEADROOM,
        max_num_seqs=preset.max_num_seqs,
        max_num_batched_tokens=max(2048, preset.max_num_seqs * block),
        kv_cache_memory_bytes=int(preset.kv_cache_gib * 2**30),
        enable_prefix_caching=False,
        enforce_eager=preset.device != "cuda",
        async_scheduling=False,
        worker_cls="dcoco_viz.engine.worker.Worker",
        speculative_config={
            "method": "dflash",
            "model": next(iter(drafters.values())),
            "num_speculative_tokens": block - 1,
            "draft_sample_method": "greedy",
            "rejection_sample_method": "standard",
        },
        additional_config={"dcoco_viz": {"drafters": drafters, "top_k": TOP_K}},
        per_request_spec_decode_metrics="detailed",
        disable_log_stats=False,
        enable_log_requests=False,
    )
    meta = {
        "preset": preset.name,
        "verifier": verifier.GGUF_SHA256 if preset.verifier == EMBEDDED else preset.verifier,
        "dtype": dtype,
        "hardware": hardware.describe(),
        "git": _revision(),
        "versions": {
            "dcoco-viz": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "transformers")},
            "vllm": vllm.__version__,
        },
    }
    return Setup(args, dtype, methods, preset.max_model_len, meta)


def explain(error: Exception) -> str:
    """One sentence for what vLLM said when it failed to start."""
    last = next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__)
    return f"The engine did not start: {last} Run `python -m dcoco_viz doctor` to see what is wrong."


def _fetch(place: str) -> str:
    """The local folder of a drafter."""
    if not is_local(place):
        from huggingface_hub import snapshot_download

        files = ["*.json", "*.safetensors", *(f"{kind}/*" for kind in KINDS)]
        try:
            return snapshot_download(place, allow_patterns=files)
        except Exception as error:
            raise LaunchError(f"The drafter {place} cannot be downloaded: {error}") from error
    if not (Path(place) / "model.safetensors").is_file():
        raise LaunchError(f"There is no drafter in {place}: train one, or name another in assets/presets.toml.")
    return place


def _serves(method: Method, config: dict[str, Any]) -> bool:
    """Whether a drafter with this config.json brings what the method needs."""
    return not method.head or kind_of(config) == method.head


def _check(configs: dict[str, dict[str, Any]]) -> int:
    """Refuse drafters that cannot share an engine. Returns the block length, 1 + slots."""
    first_name, first = next(iter(configs.items()))
    for name, config in configs.items():
        for key in SHAPE:
            if config.get(key) != first.get(key):
                raise LaunchError(
                    f"The drafters {first_name} and {name} cannot share an engine: {key} is {first.get(key)} in one "
                    f"and {config.get(key)} in the other."
                )
    return int(first["block_size"])


def _revision() -> str:
    try:
        result = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    except OSError:  # no git here, as in a container image
        return "unknown"
    return result.stdout.strip() or "unknown"
