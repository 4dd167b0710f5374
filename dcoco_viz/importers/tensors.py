"""A drafter's weight files: what is in them, by their headers alone, and then the weights."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from dcoco_viz.importers import Refused

EMBEDDING, HEAD = "embed_tokens.weight", "lm_head.weight"
_PREFIX = re.compile(r"^(module\.|draft_model\.|model\.)+")
_COMPUTED = re.compile(r"(^|\.)rotary_emb\.inv_freq$")
_MASK = re.compile(r"mask_(embedding|hidden)")
_READ = {"F32", "BF16", "F16"}


@dataclass
class Stored:
    """Where a tensor lies.

    Attributes:
        file, key: the file, and the tensor's name in it.
        shape: its shape.
        dtype: the file's name for its type, as F32 or BF16.
    """

    file: Path
    key: str
    shape: tuple[int, ...]
    dtype: str


@dataclass
class Inventory:
    """What the files of a drafter hold, by name in this program's layout.

    Attributes:
        weights: tensors of the drafter.
        shared: copies of the verifier's embedding, LM head or final norm, which are not taken over.
        maps: the vocabulary maps d2t and t2d.
        misfits: one plain sentence for everything that does not fit.
    """

    weights: dict[str, Stored] = field(default_factory=dict)
    shared: dict[str, Stored] = field(default_factory=dict)
    maps: dict[str, Stored] = field(default_factory=dict)
    misfits: list[str] = field(default_factory=list)


def take_stock(folder: Path, expected: dict[str, torch.Size], vocabulary: int, width: int) -> Inventory:
    """Compare the headers of a folder's weight files with what a drafter needs.

    Args:
        folder: holds model.safetensors, or its parts model-*-of-*.safetensors.
        expected: shape of each of the drafter's tensors by name.
        vocabulary, width: V and d; embedding and LM head are [V, d].

    Raises:
        Refused: there are no such files, or one cannot be read.
    """
    found, unknown, biases, twice = Inventory(), [], [], []
    shared = {EMBEDDING: (vocabulary, width), HEAD: (vocabulary, width)}
    shared |= {"verifier_lm_head.weight": (vocabulary, width), "verifier_norm.weight": (width,)}
    shared |= {"d2t": (vocabulary,), "t2d": (vocabulary,)}
    for tensor in _headers(folder):
        name = _PREFIX.sub("", tensor.key)
        if any(name in group for group in (found.weights, found.shared, found.maps)):
            twice.append(name)
        elif name in expected:
            found.weights[name] = tensor
        elif name in shared:
            (found.maps if name in ("d2t", "t2d") else found.shared)[name] = tensor
        elif _MASK.search(name):
            found.misfits.append(_own_mask(name))
        elif name.endswith(".bias"):
            biases.append(name)
        elif not _COMPUTED.search(name):
            unknown.append(name)
    if (folder / "mask_embedding.pt").is_file():
        found.misfits.append(_own_mask("mask_embedding.pt"))
    for name, tensor in {**found.weights, **found.shared, **found.maps}.items():
        wanted = tuple(expected.get(name) or shared[name])
        if tensor.shape != wanted:
            found.misfits.append(f"{name} has the shape {list(tensor.shape)}, and {list(wanted)} is needed.")
    kinds = sorted({tensor.dtype for tensor in found.weights.values()} - _READ)
    for names, what in (
        (biases, "Biases, which DFlash has not"),
        (unknown, "Tensors that a DFlash drafter has not"),
        (sorted(set(expected) - set(found.weights)), "Tensors that are missing"),
        (twice, "Tensors that are there twice"),
        (kinds, "Weights of a type that is not read (only F32, BF16 and F16 are)"),
    ):
        if names:
            found.misfits.append(f"{what}: {_some(names)}.")
    return found


def load(tensors: dict[str, Stored]) -> dict[str, torch.Tensor]:
    """Read the tensors, each in the precision that it is stored in.

    Raises:
        Refused: a file is damaged.
    """
    read = {}
    for file in sorted({tensor.file for tensor in tensors.values()}):
        try:
            with safe_open(file, "pt") as stream:
                read |= {name: stream.get_tensor(t.key) for name, t in tensors.items() if t.file == file}
        except (OSError, SafetensorError) as error:
            raise Refused([f"{file} cannot be read: {error}."]) from error
    return read


def renumbered(maps: dict[str, Stored]) -> list[str]:
    """A sentence for each vocabulary map that is not the identity.

    d2t is added to a draft id and gives the verifier's; t2d says which of the verifier's ids are drafted.
    """
    same = {"d2t": lambda offsets: not offsets.any(), "t2d": lambda drafted: bool(drafted.all())}
    return [
        f"{name} gives the draft vocabulary ids of its own, and here they are the verifier's."
        for name, tensor in load(maps).items()
        if not same[name](tensor)
    ]


def weight_files(folder: Path) -> list[Path]:
    """model.safetensors, or the parts of it.

    Raises:
        Refused: there are none.
    """
    whole = folder / "model.safetensors"
    files = [whole] if whole.is_file() else sorted(folder.glob("model-*-of-*.safetensors"))
    if not files:
        pickled = " Its *.bin is not read: unpickling can run code." if any(folder.glob("*.bin")) else ""
        raise Refused([f"There are no weights in {folder}: model.safetensors is missing.{pickled}"])
    total = re.search(r"-of-(\d+)", files[0].name)
    if total and len(files) != int(total[1]):
        raise Refused([f"{folder} holds {len(files)} of the {int(total[1])} parts of its weights."])
    return files


def headers(file: Path) -> Iterable[Stored]:
    """Names, shapes and types of a file's tensors.

    Raises:
        Refused: it cannot be read.
    """
    try:
        with safe_open(file, "pt") as stream:
            for key in stream.keys():
                part = stream.get_slice(key)
                yield Stored(file, key, tuple(part.get_shape()), part.get_dtype())
    except (OSError, SafetensorError) as error:
        raise Refused([f"{file} cannot be read: {error}."]) from error


def _headers(folder: Path) -> Iterable[Stored]:
    for file in weight_files(folder):
        yield from headers(file)


def _own_mask(name: str) -> str:
    return f"It brings an embedding of its own for the mask token ({name}), and here the mask has the verifier's."


def _some(names: list[str]) -> str:
    """The first names of a long list."""
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
