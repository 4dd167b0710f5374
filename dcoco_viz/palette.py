"""Every colour of the page, each with a text colour that reads on it (contrast 4.5:1 or better).

Methods and origins are Okabe-Ito colours or shades near them, probability is cividis, the correction is blue -
neutral - orange. Nothing is told by colour alone: methods have a dash and a marker, origins an underline.
"""

from typing import NamedTuple

from plotly.colors import sample_colorscale, unlabel_rgb

STEPS = 64  # entries of a scale
BLACK, WHITE = "#000000", "#ffffff"  # pure: a mid tone leaves no room for less
SURFACE = {"light": "#ffffff", "dark": "#14181d"}  # what a dimmed cell fades into
NEUTRAL = {"light": "#f1efe9", "dark": "#2a2e34"}  # no correction at all
_FADE = 0.72  # how far a dimmed cell fades


class Method(NamedTuple):
    """How one method looks, everywhere."""

    fill: str  # bars, outlines, paths on the light page
    dark: str  # the same on the dark page
    dash: str  # Plotly's name for its line, or the lengths of its dashes and gaps
    marker: str  # Plotly's name, and the glyph before its name


METHODS = {
    "none": Method("#5c6370", "#a3abb8", "dot", "circle-open"),
    "dflash": Method("#0072B2", "#56B4E9", "dash", "square"),
    "dcoco": Method("#D55E00", "#F0883E", "solid", "diamond"),
    "dcoco-nohead": Method("#CC79A7", "#DE97BE", "dashdot", "triangle-up"),
    # a deeper, in the dark a paler, shade of the method that each is a variant of
    "dflash-long": Method("#003F73", "#BFE0F7", "longdash", "hexagon"),
    "dcoco-anchored": Method("#6E2500", "#FFD9C0", "longdashdot", "star"),
    "domino": Method("#009E73", "#159A75", "6px,2px", "triangle-down"),
    "dspark": Method("#6E5A00", "#C9B800", "12px,3px,2px,3px,2px,3px", "cross"),
    "selector": Method("#7B2FB5", "#8A5CF0", "2px,6px", "x"),
}

# origin -> (light, dark): the underline of a token; its fill is the same colour, faint
ORIGINS = {
    "given": ("#5c6370", "#a3abb8"),
    "draft": ("#00805e", "#2fc79c"),
    "corrected": ("#D55E00", "#F0883E"),
    "bonus": ("#8a6d00", "#E0B52E"),
    "prefill": ("#5c6370", "#a3abb8"),
    "plain": ("#5c6370", "#a3abb8"),
}


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, 0..1 (WCAG 2)."""
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in _rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a: str, b: str) -> float:
    """Contrast ratio of two colours, 1..21 (WCAG 2)."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def text_on(fill: str) -> str:
    """The text colour, dark or light, that reads better on this fill."""
    return max((BLACK, WHITE), key=lambda text: contrast(fill, text))


def mix(a: str, b: str, share: float) -> str:
    """`share` of b in a."""
    return _hex([x + (y - x) * share for x, y in zip(_rgb(a), _rgb(b), strict=True)])


def cividis() -> list[str]:
    """STEPS colours, low to high."""
    points = [i / (STEPS - 1) for i in range(STEPS)]
    return [_hex([c / 255 for c in unlabel_rgb(rgb)]) for rgb in sample_colorscale("cividis", points)]


def diverging(theme: str) -> list[str]:
    """STEPS + 1 colours, blue - neutral - orange; the middle one stands for zero."""
    half, ends = STEPS // 2, ("#2f7fc1", "#e07b1a")
    low = [mix(NEUTRAL[theme], ends[0], i / half) for i in range(half, 0, -1)]
    high = [mix(NEUTRAL[theme], ends[1], i / half) for i in range(1, half + 1)]
    return [*low, NEUTRAL[theme], *high]


def scales() -> dict[str, dict[str, list[tuple[str, str]]]]:
    """(fill, text) of every step by theme and scale: `probability`, `dimmed` (after a rejection), `delta`."""
    out = {}
    for theme, surface in SURFACE.items():
        fills = {
            "probability": cividis(),
            "dimmed": [mix(colour, surface, _FADE) for colour in cividis()],
            "delta": diverging(theme),
        }
        out[theme] = {name: [(fill, text_on(fill)) for fill in scale] for name, scale in fills.items()}
    return out


def css() -> str:
    """Methods and origins as CSS variables, light and dark."""
    themes = []
    for selector, index in ((":root", 0), (".dark", 1)):
        methods = [f"--method-{name}: {(m.fill, m.dark)[index]};" for name, m in METHODS.items()]
        origins = [f"--origin-{name}: {pair[index]};" for name, pair in ORIGINS.items()]
        themes.append(f"{selector} {{ {' '.join(methods + origins)} }}")
    return "\n".join(themes)


def _rgb(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _hex(rgb: list[float]) -> str:
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, c))):02x}" for c in rgb)
