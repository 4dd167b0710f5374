"""Example prompts of the page, from assets/prompts.toml."""

import functools
import tomllib
from typing import NamedTuple

from dcoco_viz.presets import ROOT


class Prompt(NamedTuple):
    """One example."""

    group: str
    label: str
    text: str
    source: str = ""  # held-out source of the checkpoints' cards whose prompts are of this kind; empty: none is


@functools.cache
def examples() -> tuple[Prompt, ...]:
    """All of them, in the order of the file."""
    data = tomllib.loads((ROOT / "assets" / "prompts.toml").read_text(encoding="utf-8"))
    return tuple(Prompt(**prompt) for prompt in data["prompts"])
