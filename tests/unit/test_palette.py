"""Every fill has a text that reads on it, and what must be told apart is told apart without colour."""

import pytest

from dcoco_viz import palette
from dcoco_viz.components import GLYPHS
from dcoco_viz.methods import METHODS


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", ["probability", "dimmed", "delta"])
def test_text_reads_on_every_step(theme, scale):
    for fill, text in palette.scales()[theme][scale]:
        assert palette.contrast(fill, text) >= 4.5, (fill, text)


def test_contrast_is_that_of_wcag():
    assert palette.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert palette.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_probability_rises_in_luminance():
    steps = [palette.luminance(colour) for colour in palette.cividis()]
    assert steps == sorted(steps) and len(set(steps)) == palette.STEPS


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_correction_is_neutral(theme):
    scale = palette.diverging(theme)
    assert len(scale) == palette.STEPS + 1
    assert scale[palette.STEPS // 2] == palette.NEUTRAL[theme]


def test_methods_and_origins_show_on_their_page():
    for method in palette.METHODS.values():
        assert palette.contrast(method.fill, palette.SURFACE["light"]) >= 3
        assert palette.contrast(method.dark, palette.SURFACE["dark"]) >= 3
    for light, dark in palette.ORIGINS.values():
        assert palette.contrast(light, palette.SURFACE["light"]) >= 3
        assert palette.contrast(dark, palette.SURFACE["dark"]) >= 3


def test_every_method_has_a_look_of_its_own():
    assert palette.METHODS.keys() == METHODS.keys()
    assert {method.marker for method in palette.METHODS.values()} == GLYPHS.keys()
    assert len(set(GLYPHS.values())) == len(GLYPHS)
    for look in ("fill", "dark"):
        assert len({getattr(method, look).lower() for method in palette.METHODS.values()}) == len(METHODS)


def test_methods_differ_without_colour():
    methods = palette.METHODS.values()
    assert len({m.dash for m in methods}) == len({m.marker for m in methods}) == len(methods)


def test_the_papers_two_methods_keep_their_colours():
    assert palette.METHODS["dflash"].fill == "#0072B2"
    assert palette.METHODS["dcoco"].fill == "#D55E00"
