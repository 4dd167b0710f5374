"""What the paper reports, from assets/paper."""

import functools
import tomllib
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dcoco_viz.presets import ROOT

FILE = ROOT / "assets" / "paper" / "coverage.toml"


class Mark(BaseModel):
    """One share that the paper reports."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    k: int = Field(ge=1, description="candidates looked at")
    slot: int | Literal["mean", "all"] = Field(description="from 1; mean over the slots, or all of them together")
    share: float = Field(ge=0, le=1)
    shown: str = Field(description="as the page writes it")


class Paper(BaseModel):
    """Its coverage figures, and whose they are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    model: str
    coverage: tuple[Mark, ...]
    saveable: tuple[Mark, ...]


@functools.cache
def paper() -> Paper:
    return Paper.model_validate(tomllib.loads(FILE.read_text(encoding="utf-8")))
