"""One import: read what a drafter says of itself, check it, and write it in this program's layout."""

import json
import shutil
import tempfile
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError

from dcoco_viz.checkpoint import differences
from dcoco_viz.importers import Refused, fits, layouts, shared, source, tensors
from dcoco_viz.methods import checkpoint
from dcoco_viz.methods.dflash.model import Drafter
from dcoco_viz.verifier import sha256


class Imported(NamedTuple):
    """What an import wrote.

    Attributes:
        folder: the drafter's folder.
        layout: whose layout it came in.
        head: the kind of head that came along, as dcoco; empty for none.
        notes: one sentence for everything that was converted or left out.
    """

    folder: Path
    layout: layouts.Layout
    head: str
    notes: list[str]


def run(origin: str, out: Path, verifier: str = "", say: Callable[[str], None] = lambda _: None) -> Imported:
    """Import a drafter. The folder `out` appears whole or not at all.

    Args:
        origin: a folder or a hub id.
        out: the folder to write; it must not exist.
        verifier: 'embedded' or a folder to check against; empty: only what the drafter says of itself is checked.
        say: called with a line for a person before something that takes time.

    Raises:
        Refused: it does not fit, or cannot be read or written.
        verifier.VerifierError: the embedded verifier cannot be prepared.
    """
    if out.exists():
        raise Refused([f"{out} exists already: choose another --out."])
    folder = source.fetch(origin, source.SMALL)
    hub = not Path(origin).expanduser().is_dir()
    raw = source.read_json(folder / "config.json")
    card = source.read_json(folder / "card.json") if (folder / "card.json").is_file() else {}
    read = layouts.read(raw)
    against = source.verifier(verifier, say, hashed=bool(card.get("verifier_sha256"))) if verifier else None
    if against and not read.config.get("num_target_layers"):
        read.config["num_target_layers"] = against.config.get("num_hidden_layers")
    _refuse(fits.misfits(read))
    _refuse(_unlike(read.config, card, against))

    if hub:
        say(f"Downloading the weights of {origin}")
        source.fetch(origin, source.WEIGHTS, revision=folder.name)  # the one whose config.json was checked
    config = fits.drafter_config(read)
    with torch.device("meta"):
        drafter = Drafter(config)
    expected = {name: tensor.shape for name, tensor in drafter.state_dict().items()}
    stock = tensors.take_stock(folder, expected, config.vocab_size, config.hidden_size)
    kind, wrong = _head(folder, raw)
    _refuse(stock.misfits + wrong)
    _refuse(tensors.renumbered(stock.maps))
    notes = read.notes + shared.notes(stock.shared, against)

    say("Reading the weights")
    weights = tensors.load(stock.weights)
    dtype = reduce(torch.promote_types, {tensor.dtype for tensor in weights.values()})
    drafter.load_state_dict(weights, assign=True)
    head = _load_head(folder, kind) if kind else None
    files = [folder / "config.json", *tensors.weight_files(folder), *folder.glob("*/model.safetensors")]
    card = card | {
        "checkpoint": kind or "dflash",
        "hidden_size": config.hidden_size,
        "vocab_size": config.vocab_size,
        "num_target_layers": config.num_target_layers,
        "target_layer_ids": list(config.target_layer_ids),
        "imported": {
            "from": origin if hub else str(folder),
            "revision": folder.name if hub else None,
            "layout": read.layout,
            "verifier": read.verifier or None,
            "checked_against": str(against.folder) if against else None,
            "sha256": {str(file.relative_to(folder)): sha256(file) for file in files},
            "notes": notes,
        },
    }
    _write(out, drafter, head, dtype, card)
    return Imported(out, read.layout, kind, notes)


def _refuse(sentences: list[str]) -> None:
    if sentences:
        raise Refused(sentences)


def _unlike(config: dict[str, Any], card: dict[str, Any], against: source.Verifier | None) -> list[str]:
    """What differs from the verifier; without one, what cannot be true of any."""
    own = {name: config[name] for name in ("hidden_size", "vocab_size")}
    other = against.config if against else own | {"num_hidden_layers": config["num_target_layers"]}
    try:
        found = differences(config, card, other, hashes=against.hashes if against else None)
    except (KeyError, TypeError, ValueError) as error:
        raise Refused([f"The verifier's config.json cannot be used: {type(error).__name__}, {error}."]) from error
    return [f"The drafter does not fit{' the verifier' if against else ''}: {reason}." for reason in found]


def _head(folder: Path, raw: dict[str, Any]) -> tuple[str, list[str]]:
    """The kind of head that this program saved beside the drafter, empty for none, and what is wrong with it.

    A head is KIND/model.safetensors and KIND_config in config.json; no other layout has one.
    """
    weights = sorted(file.parent.name for file in folder.glob("*/model.safetensors"))
    named = [kind for kind in weights if f"{kind}_config" in raw]
    wrong = [f"It has weights in {k}/, of which its config.json says nothing." for k in weights if k not in named]
    if "dcoco_config" in raw and "dcoco" not in weights:
        wrong.append("Its config.json names a corrector (dcoco_config), and dcoco/model.safetensors is missing.")
    if len(named) > 1:
        wrong.append(f"It has more than one head: {', '.join(named)}.")
    return named[0] if named else "", wrong


def _load_head(folder: Path, kind: str) -> torch.nn.Module:
    try:
        head = checkpoint.load(folder)[1]
    except checkpoint.CheckpointError as error:
        raise Refused([f"{error}."]) from error
    if head is None:
        raise Refused([f"Its head is of the kind {kind}, which is not known here."])
    return head


def _write(out: Path, drafter: Drafter, head: torch.nn.Module | None, dtype: torch.dtype, card: dict[str, Any]) -> None:
    """Build the folder beside its place and move it there."""
    made = [parent for parent in out.absolute().parents if not parent.exists()]
    staging = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        checkpoint.save(staging, drafter, head, dtype=dtype)
        (staging / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
        staging.chmod(0o755)  # mkdtemp makes it for the owner alone
        staging.rename(out)
    except BaseException as error:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        for parent in made:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
        if isinstance(error, OSError | SafetensorError):
            raise Refused([f"{out} cannot be written: {error}."]) from error
        raise
