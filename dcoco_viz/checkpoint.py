"""Whether a drafter's folder fits the verifier it is to draft for, read from its small files alone."""

import json
from pathlib import Path
from typing import Any


def mismatches(
    folder: Path, verifier: dict[str, Any], *, head: str, context: int, hashes: set[str] | None = None
) -> list[str]:
    """One plain sentence for everything that does not fit; empty when all does.

    Args:
        folder: a drafter in the layout of z-lab's checkpoints; a head lies in the sub-folder of its kind.
        verifier: the verifier's config.json.
        head: the kind of head that this drafter must bring (methods.METHODS); empty: none.
        context: longest prompt + output, in tokens, that the drafter will see.
        hashes: sha256 values of the verifier's weights, any of which card.json may name; None: not known.
    """
    if not (folder / "model.safetensors").is_file():
        return [f"There is no drafter in {folder}: model.safetensors is missing."]
    try:
        card = _read(folder / "card.json") if (folder / "card.json").is_file() else {}
        config = _read(folder / "config.json")
        found = differences(config, card, verifier, context=context, hashes=hashes)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"The drafter in {folder} cannot be checked: {type(error).__name__}, {error}."]
    if head and not (folder / head / "model.safetensors").is_file():
        found.append(f"its head, {head}/model.safetensors, is missing")
    elif head and f"{head}_config" not in config:
        found.append(f"its config.json says nothing of a {head} head")
    return [f"The drafter in {folder} does not fit: {reason}." for reason in found]


def differences(
    config: dict[str, Any],
    card: dict[str, Any],
    verifier: dict[str, Any],
    *,
    context: int = 0,
    hashes: set[str] | None = None,
) -> list[str]:
    """What a drafter's config.json and card.json say that does not fit; clauses, for a sentence of the caller's.

    Args:
        config: the drafter's config.json, in the layout of z-lab's checkpoints.
        card: its card.json; empty where it has none.
        verifier, context, hashes: as in `mismatches`.

    Raises:
        KeyError, TypeError, ValueError: a field is missing or of another kind.
    """
    method = config["dflash_config"]
    layers, mask = [int(layer) for layer in method["target_layer_ids"]], int(method["mask_token_id"])
    reach = int(config["max_position_embeddings"])
    depth, vocabulary = int(verifier["num_hidden_layers"]), int(verifier["vocab_size"])
    found = []
    for key, other in (("hidden_size", "hidden_size"), ("vocab_size", "vocab_size"),
                       ("num_target_layers", "num_hidden_layers")):  # fmt: skip
        if config.get(key) != verifier.get(other):
            found.append(f"{key} is {config.get(key)}, and the verifier has {verifier.get(other)}")
    if not layers or not all(0 <= layer < depth for layer in layers):
        found.append(f"it reads the verifier's layers {layers}, and there are 0 to {depth - 1}")
    if not 0 <= mask < vocabulary:
        found.append(f"its mask token {mask} is not among the verifier's {vocabulary} tokens")
    if reach < context:
        found.append(f"it was built for {reach} positions, and the engine is set to {context}")
    named = card.get("verifier_sha256")
    if hashes and named and named not in hashes:
        found.append(f"it was trained for a verifier with sha256 {str(named)[:12]}, which is not this one")
    return found


def _read(file: Path) -> dict[str, Any]:
    value = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(value, dict):
        raise ValueError(f"{file.name} is not a JSON object")
    return value
