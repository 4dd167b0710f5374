"""The ways to decode that the app can run, and what each needs."""

from typing import NamedTuple


class Method(NamedTuple):
    """A way to decode: `drafter` names its checkpoint folder, `head` says whether the corrector runs."""

    name: str
    drafter: str | None
    head: bool
    label: str


METHODS = {
    method.name: method
    for method in (
        Method("none", None, False, "No speculation"),
        Method("dflash", "dflash", False, "DFlash"),
        Method("dcoco", "dcoco", True, "DCOCO"),
        Method("dcoco-nohead", "dcoco", False, "DCOCO's drafter, corrector off"),
    )
}
