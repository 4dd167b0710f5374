"""What a drafter's file holds of its verifier: it is not taken over, and here is how far it is from the verifier's."""

import torch
from safetensors import safe_open

from dcoco_viz.importers.source import Verifier
from dcoco_viz.importers.tensors import EMBEDDING, HEAD, Stored, headers

_ROWS = 8192  # compared at a time: an LM head of 150,000 rows would need gigabytes in float32
_THEIRS = {  # how the name ends in the verifier
    EMBEDDING: (EMBEDDING,),
    HEAD: (HEAD, EMBEDDING),  # the second where the two are tied
    "verifier_lm_head.weight": (HEAD, EMBEDDING),
    "verifier_norm.weight": ("model.norm.weight", "language_model.norm.weight"),
}


def notes(shared: dict[str, Stored], verifier: Verifier | None) -> list[str]:
    """A sentence for each tensor that is left out, for the verifier's stands in its place.

    Args:
        shared: of the drafter, by name.
        verifier: None: nothing to compare with.
    """
    files = sorted(verifier.folder.glob("*.safetensors")) if verifier else []
    known, found = [tensor for file in files for tensor in headers(file)], []
    for name, mine in shared.items():
        theirs = next((t for end in _THEIRS[name] for t in known if t.key.endswith(end)), None)
        if theirs is None or theirs.shape != mine.shape:
            how = "the two were not compared"
        else:
            far = distance(mine, theirs)
            how = "the two are equal" if far == 0 else f"the two differ by {far:.2%} (root mean square)"
        found.append(f"{name} is left out and the verifier's is used; {how}.")
    return found


def distance(mine: Stored, theirs: Stored) -> float:
    """Root mean square of the difference of two tensors of one shape, as a share of the second's."""
    apart = size = 0.0
    with safe_open(mine.file, "pt") as one, safe_open(theirs.file, "pt") as other:
        left, right = one.get_slice(mine.key), other.get_slice(theirs.key)
        for start in range(0, mine.shape[0], _ROWS):
            a, b = left[start : start + _ROWS].float(), right[start : start + _ROWS].float()
            apart += torch.sum((a - b) ** 2).item()
            size += torch.sum(b**2).item()
    return (apart / size) ** 0.5 if size else float(apart > 0)
