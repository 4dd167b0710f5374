"""The ways to decode that the app can run, and what each needs."""

from typing import NamedTuple

SERIAL = ("domino", "dspark")  # heads that choose slot by slot; the others score a whole grid of transitions at once


class Method(NamedTuple):
    """A way to decode."""

    name: str
    drafter: str | None  # name of its checkpoint folder
    head: str  # kind of head that chooses among the candidates; empty: the drafter's argmax
    label: str

    @property
    def serial(self) -> bool:
        """Whether the head chooses slot by slot: no walk to choose, and no K x K grid to look at."""
        return self.head in SERIAL


METHODS = {
    method.name: method
    for method in (
        Method("none", None, "", "No speculation"),
        Method("dflash", "dflash", "", "DFlash"),
        Method("dflash-long", "dflash-long", "", "DFlash, trained as long as the others"),
        Method("dcoco", "dcoco", "dcoco", "DCOCO"),
        Method("dcoco-nohead", "dcoco", "", "DCOCO's drafter, corrector off"),
        Method("dcoco-anchored", "dcoco-anchored", "dcoco", "DCOCO, anchored"),
        Method("domino", "domino", "domino", "Domino"),
        Method("dspark", "dspark", "dspark", "DSpark"),
        Method("selector", "selector", "selector", "DFlash2's selector"),
    )
}
