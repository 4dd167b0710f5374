"""What a run trains behind its shared stage: METHOD[+CHANGE...], such as `dcoco` or `dcoco+frozen+k:8`.

    +frozen        the drafter stays as the shared stage left it; the head alone learns
    +no-pair       DCOCO without s_p, the state of neighbouring slots
    +no-candidate  DCOCO without the candidates' own representations
    +gated, +rnn   DSpark's other two forms
    +k:N           N candidates a slot, in training and in measuring
    +rho:X         slot j counts exp(-(j-1)/X) in the head's loss
"""

from typing import NamedTuple

from dcoco_viz.methods import METHODS

RHO = 4.0
LARGEST_K = 64


class Branch(NamedTuple):
    """A parsed name."""

    name: str
    method: str
    kind: str  # of the head; empty: the drafter alone
    settings: dict  # of the head
    frozen: bool
    rho: float


def parse(name: str) -> Branch:
    """The branch of that name.

    Raises:
        ValueError: no such branch; one sentence for the user.
    """
    method, *changes = name.split("+")
    known = [m for m in METHODS.values() if m.drafter == m.name]
    if method not in {m.name for m in known}:
        raise ValueError(f"{name!r} is nothing to train: it begins with one of {', '.join(m.name for m in known)}")
    kind, settings, frozen, rho = METHODS[method].head, {}, False, RHO
    if method == "dcoco-anchored":
        settings["anchored"] = True
    for change in changes:
        key, _, value = change.partition(":")
        try:
            if change == "frozen" and kind:
                frozen = True
            elif change in ("no-pair", "no-candidate") and kind == "dcoco":
                settings[change.removeprefix("no-")] = False
            elif change in ("gated", "rnn") and kind == "dspark":
                settings["variant"] = change
            elif key == "k" and kind and 1 < int(value) <= LARGEST_K:
                settings["top_k"] = int(value)
            elif key == "rho" and kind and float(value) > 0:
                rho = float(value)
            else:
                raise ValueError(change)
        except ValueError:
            raise ValueError(f"{name!r}: {method} knows no change +{change}") from None
    if name == "dflash":
        raise ValueError("dflash is the shared stage itself: every run writes it; dflash-long trains on from there")
    return Branch(name, method, kind, settings, frozen, rho)
