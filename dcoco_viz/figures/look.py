"""How a series looks: its method's colour, and a dash and marker that no other series of the picture has."""

from collections import Counter
from typing import NamedTuple

from dcoco_viz import palette

_DASHES = tuple(dict.fromkeys(["solid", "dash", "dot", "dashdot", "longdash", "longdashdot",
                               *(method.dash for method in palette.METHODS.values())]))  # fmt: skip
_MARKERS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "pentagon", "hexagon", "star")


class Look(NamedTuple):
    colour: str  # a CSS variable of the page
    dash: str  # Plotly's name
    marker: str  # Plotly's name of the filled form


def colour(method: str) -> str:
    """Methods that the palette does not know look like plain decoding."""
    return f"var(--method-{method if method in palette.METHODS else 'none'})"


def looks(methods: list[str]) -> list[Look]:
    """One for each series. The first of a method has the palette's dash and marker, those after it others."""
    out, seen = [], Counter()
    own = [palette.METHODS.get(method, palette.METHODS["none"]) for method in methods]
    taken = {one.marker.removesuffix("-open") for one in own}
    spare = [marker for marker in _MARKERS if marker not in taken]
    for method, its in zip(methods, own, strict=True):
        turn = seen[method]
        if turn:
            dash = _DASHES[(_DASHES.index(its.dash) + turn) % len(_DASHES)]
            marker = spare.pop(0) if spare else its.marker.removesuffix("-open")
        else:
            dash, marker = its.dash, its.marker.removesuffix("-open")
        out.append(Look(colour(method), dash, marker))
        seen[method] += 1
    return out
