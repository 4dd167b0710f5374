"""Where a drafter comes from, and the verifier that it is checked against: folders with small JSON files."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcoco_viz import verifier as verifiers
from dcoco_viz.importers import Refused

SMALL = ["config.json", "card.json"]
WEIGHTS = ["*.safetensors", "*.safetensors.index.json", "mask_embedding.pt"]  # of sub-folders too
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class Verifier:
    """What an import is checked against.

    Attributes:
        folder: where it lies; its weights are compared with those that a drafter brings of it.
        config: its config.json; of a multimodal one, the part for text.
        hashes: sha256 values by which a card.json may name its weights; those that are known.
    """

    folder: Path
    config: dict[str, Any]
    hashes: set[str]


def fetch(source: str, patterns: list[str], revision: str | None = None) -> Path:
    """The folder of a drafter; files of a hub id that match the patterns are downloaded into the hub's cache.

    Raises:
        Refused: there is no such folder, or the hub did not give the files.
    """
    folder = Path(source).expanduser()
    if folder.is_dir():
        return folder.resolve()
    if not _HUB_ID.fullmatch(source):
        raise Refused([f"There is no folder {source}, and a hub id has the form owner/name."])
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(source, revision=revision, allow_patterns=patterns))
    except Exception as error:  # the hub's and its HTTP library's errors have no class in common
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise Refused([f"There is no folder {source}, and it cannot be downloaded from the hub: {reason}."]) from error


def read_json(file: Path) -> dict[str, Any]:
    """A JSON object from a file.

    Raises:
        Refused: it is missing or something else.
    """
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refused([f"{file} cannot be read: {error}."]) from error
    if not isinstance(value, dict):
        raise Refused([f"{file} is not a JSON object."])
    return value


def verifier(name: str, say: Callable[[str], None], *, hashed: bool) -> Verifier:
    """The embedded verifier, unpacked first where that is needed, or the one in a folder.

    Args:
        name: 'embedded' or a folder.
        say: called with a line for a person before something that takes time.
        hashed: compute the hash of its weights (a minute for 60 GB).

    Raises:
        Refused: the folder holds no config.json, or no weights to hash.
        verifier.VerifierError: the embedded one cannot be prepared.
    """
    if name == "embedded":
        folder = verifiers.prepare(say)
        hashes = {verifiers.GGUF_SHA256}
    else:
        folder, hashes = Path(name).expanduser().resolve(), set()
    config = read_json(folder / "config.json")
    try:
        if hashed:
            hashes.add(verifiers.fingerprint(folder))
    except verifiers.VerifierError as error:
        raise Refused([f"{error}."]) from error
    return Verifier(folder, config.get("text_config", config), hashes)
