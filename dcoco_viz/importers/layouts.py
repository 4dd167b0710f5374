"""The three layouts of a DFlash drafter's config.json, brought into one: z-lab's.

z-lab          shapes at the top, `dflash_config` with mask_token_id and target_layer_ids. Layer id i is the hidden
               state AFTER the verifier's layer i. It is this program's layout too, with `dcoco_config` for a corrector.
SpecForge      the same network and the same ids; what `dflash_config` leaves out has a rule or is unknown.
speculators    shapes in `transformer_layer_config`, the rest at the top. Its aux_hidden_state_layer_ids count the
               states BEFORE a layer: id i there is id i - 1 here.
"""

from dataclasses import dataclass
from typing import Any, Literal

from dcoco_viz.importers import Refused

Layout = Literal["z-lab", "SpecForge", "speculators"]

# what an architecture, a speculators type or a projector type can hold; the first that is found is meant
_OTHERS = {
    "lilicorr": "LiLiCorr, whose corrector is a transformer over the candidates",
    "dflash2": "DFlash2, which adds a convolution and a candidate selector to DFlash",
    "dspark": "DSpark, which adds a Markov head to DFlash",
    "domino": "Domino, which adds a recurrent head to DFlash",
    "peagle": "P-EAGLE, whose drafter is causal: no slot sees the slots after it",
    "eagle3": "EAGLE-3, whose drafter is causal: it writes one token after the other",
    "eagle": "EAGLE, whose drafter is causal: it writes one token after the other",
    "mtp": "multi-token prediction, whose drafter is causal: it writes one token after the other",
    "medusa": "Medusa, whose heads sit on the verifier",
    "mlpspeculator": "an MLP speculator, which is causal: it writes one token after the other",
}
# keys of dflash_config that SpecForge writes and z-lab does not
_SPECFORGE = {"attention_mode", "attention_modes", "projector_type", "shift_label", "pure_draft_prefix_len"}


@dataclass(frozen=True)
class Read:
    """A drafter's config.json as z-lab would have written it.

    Attributes:
        layout: whose layout it was.
        config: shapes and `block_size` at the top, `dflash_config` beside them. A key that the source lacks is missing.
        place: where its shapes stood, for sentences.
        notes: one sentence for everything that was converted or concluded.
        verifier: the verifier that the source names; empty where it names none.
    """

    layout: Layout
    config: dict[str, Any]
    place: str
    notes: list[str]
    verifier: str = ""


def read(config: dict[str, Any]) -> Read:
    """Recognise the layout of a config.json and convert it.

    Raises:
        Refused: it belongs to no DFlash drafter; the sentence says to what it belongs.
    """
    method = _inner(config, "dflash_config")
    kinds = [config.get("speculators_model_type"), *(config.get("architectures") or [])]
    kinds += [method.get("projector_type"), config.get("projector_type")]
    kinds = [str(kind) for kind in kinds if kind]
    for kind in kinds:
        plain = kind.lower().replace("-", "").replace("_", "")
        if other := next((text for word, text in _OTHERS.items() if word in plain), None):
            raise Refused([f"This is no DFlash drafter: its config.json says {kind}. That is {other}."])
    if config.get("speculators_model_type") == "dflash":
        return _speculators(config)
    if "DFlashDraftModel" in kinds:
        return _specforge(config) if _SPECFORGE & set(method) or "target_layer_ids" not in method else _zlab(config)
    named = ", ".join(kinds) or "no architecture"
    raise Refused([f"This is no DFlash drafter: its config.json says {named}, and no DFlashDraftModel."])


def _zlab(config: dict[str, Any]) -> Read:
    return Read("z-lab", config, "config.json", [])


def _specforge(config: dict[str, Any]) -> Read:
    method, notes = dict(_inner(config, "dflash_config")), []
    verifier_layers, layers = config.get("num_target_layers"), config.get("num_hidden_layers")
    if not method.get("target_layer_ids") and verifier_layers and layers:
        method["target_layer_ids"] = spread(verifier_layers, layers)
        notes.append(
            f"It names no layers of the verifier: by SpecForge's rule for {layers} draft layers it reads "
            f"{method['target_layer_ids']}."
        )
    return Read("SpecForge", config | {"dflash_config": method}, "config.json", notes)


def _speculators(config: dict[str, Any]) -> Read:
    method: dict[str, Any] = {
        key: config[key]
        for key in ("mask_token_id", "sample_from_anchor", "shift_label")
        if config.get(key) is not None
    }
    notes = []
    if theirs := config.get("aux_hidden_state_layer_ids"):
        method["target_layer_ids"] = [layer - 1 for layer in theirs]
        notes.append(
            f"Layer ids {list(theirs)} count the states before a layer; they are {method['target_layer_ids']} here, "
            "the states after a layer."
        )
    flat = _inner(config, "transformer_layer_config") | {"dflash_config": method}
    for key in ("block_size", "draft_vocab_size", "target_hidden_size", "quantization_config"):
        if config.get(key) is not None:
            flat[key] = config[key]
    said = _inner(_inner(config, "speculators_config"), "verifier")
    return Read("speculators", flat, "transformer_layer_config", notes, str(said.get("name_or_path") or ""))


def _inner(config: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under a key; empty where there is none."""
    value = config.get(key)
    if not isinstance(value, dict | None):
        raise Refused([f"{key} in its config.json is {value!r}, and an object is needed."])
    return value or {}


def spread(verifier_layers: int, draft_layers: int) -> list[int]:
    """SpecForge's layers for a config that names none: evenly from 1 to the last but two, one for a draft layer."""
    if draft_layers == 1:
        return [verifier_layers // 2]
    return [round(1 + i * (verifier_layers - 4) / (draft_layers - 1)) for i in range(draft_layers)]
