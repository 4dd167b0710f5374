"""What the paper reports, from assets/paper/findings.toml."""

import functools
import tomllib
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dcoco_viz.presets import ROOT

FILE = ROOT / "assets" / "paper" / "findings.toml"


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(_Frozen):
    """Where the paper has one way's tau, seen from another's."""

    sections: tuple[str, ...] = Field(description="of docs/findings.md, where it stands beside ours")
    a: str
    b: str
    direction: Literal["above", "below"] = Field(description="where a's tau lies, seen from b's")
    percent: float | None = Field(None, description="change of tau from b to a, in percent of b's")
    shown: str = Field(description="as the page writes it")
    note: str = ""


class Lowest(_Frozen):
    """The source of prompts with the lowest tau."""

    source: str
    shown: str


class Gap(_Frozen):
    """Top-16 less top-1 coverage, lowest and highest over the paper's verifiers."""

    first: tuple[float, float]
    last: tuple[float, float]


class Paper(_Frozen):
    """All of it, and on what it was measured."""

    source: str
    setting: str
    seed: int
    tau: dict[str, dict[str, float]] = Field(description="by section and way; tokens a cycle")
    claim: tuple[Claim, ...]
    lowest_source: Lowest
    coverage_gap: Gap

    def claims(self, section: str) -> list[Claim]:
        """Those that stand in one section, in the file's order."""
        return [claim for claim in self.claim if section in claim.sections]


@functools.cache
def paper() -> Paper:
    return Paper.model_validate(tomllib.loads(FILE.read_text(encoding="utf-8")))
