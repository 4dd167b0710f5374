"""What a results file holds, checked where it is read."""

import re
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

NAMES = ("frozen", "equal", "methods", "walks", "ablations", "seeds")
ROUNDING = 0.001  # of tau: figures and differences are rounded apart from one another
Share = Annotated[float, Field(ge=0, le=1)]


class ResultsError(ValueError):
    """The results cannot be used; the message is one plain sentence."""


class _Strict(BaseModel):
    """Fields that are not named here are left alone: the command that measures may write more."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class Interval(_Strict):
    """A tau, or a difference of two, with its 95% interval."""

    tau: float = Field(description="tokens a cycle")
    interval: tuple[float, float] = Field(description="95%, bootstrap over prompts; tokens a cycle")

    @model_validator(mode="after")
    def _in_order(self):
        if self.interval[0] > self.interval[1]:
            raise ValueError("the interval ends before it begins")
        return self


class Prefix(_Strict):
    """Mean accepted lengths, in tokens, and shares of cycles."""

    top1: float = Field(ge=0, description="of the drafter's argmax path")
    selected: float = Field(ge=0, description="of the chosen path")
    oracle: float = Field(ge=0, description="of the best path inside the pool")
    helped: Share = Field(description="cycles in which the chosen path came further than the argmax path")
    harmed: Share = Field(description="cycles in which it came less far")

    @model_validator(mode="after")
    def _possible(self):
        if self.top1 > self.oracle:
            raise ValueError("the argmax path cannot come further than the best path of the pool")
        return self


class Figures(_Strict):
    """One way of walking, as `dcoco_viz.train.evaluate.figures` writes it."""

    pooled: Interval
    without_loop_tokens: Interval
    by_source: dict[str, Interval]
    coverage_by_slot: dict[str, list[Share]] = Field(description="by k, written as a string; one share a slot")
    prefix: Prefix

    @model_validator(mode="after")
    def _as_many_slots_for_every_k(self):
        if len(lengths := {len(shares) for shares in self.coverage_by_slot.values()}) > 1 or 0 in lengths:
            raise ValueError("coverage_by_slot has no slots, or not as many for every k")
        return self


class Difference(_Strict):
    """A paired difference of tau between two ways on the same prompts."""

    pooled: Interval
    without_loop_tokens: Interval


class Data(_Strict):
    file: str
    sequences: int = Field(ge=0)
    response_tokens: int = Field(ge=0)


class Training(_Strict):
    shared_steps: int = Field(ge=0)
    branch_steps: int = Field(ge=0)
    response_tokens_seen: int = Field(ge=0)
    seed: int
    precision: str


class HeldOut(_Strict):
    prompts: int = Field(ge=1)


class Results(_Strict):
    """One file of assets/results."""

    name: Literal[NAMES]
    verifier: str
    verifier_sha256: str
    data: Data
    training: Training
    held_out: HeldOut
    temperature: float = Field(ge=0, le=0, description="0: measuring offline is exact only there")
    figures: dict[str, Figures] = Field(min_length=1)
    difference: dict[str, Difference] = Field(default_factory=dict, description="by 'A - B', ways of `figures`")

    @model_validator(mode="after")
    def _seeds_are_named(self):
        for way in self.figures if self.name == "seeds" else ():
            if not re.fullmatch(r".+@\d+", way):
                raise ValueError(f"a way of the seeds is written METHOD@SEED, not {way!r}")
        return self

    @model_validator(mode="after")
    def _differences_are_those_of_the_figures(self):
        for name, difference in self.difference.items():
            a, _, b = name.partition(" - ")
            if a not in self.figures or b not in self.figures:
                raise ValueError(f"the difference {name!r} is not between two of the ways measured")
            for part in ("pooled", "without_loop_tokens"):
                gap = getattr(self.figures[a], part).tau - getattr(self.figures[b], part).tau
                if abs(gap - getattr(difference, part).tau) > ROUNDING:
                    raise ValueError(f"the difference {name!r} ({part}) is not that of the two values of tau")
        return self


class Loaded(NamedTuple):
    """Results by name, and the names of JSON files that belong to no section."""

    results: dict[str, Results]
    unread: list[str]


def load(folder: Path) -> Loaded:
    """All results files of a folder; none of them has to be there.

    Raises:
        ResultsError: there is no such folder, or a file in it is damaged or is not what its name says.
    """
    if not folder.is_dir():
        raise ResultsError(f"There is no folder {folder}.")
    found = {path.stem: path for path in sorted(folder.glob("*.json"))}
    results = {name: _read(found[name]) for name in NAMES if name in found}
    return Loaded(results, [path.name for name, path in found.items() if name not in NAMES])


def _read(path: Path) -> Results:
    try:
        results = Results.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise ResultsError(f"{path} is not a results file: {where + ': ' if where else ''}{what}.") from error
    if results.name != path.stem:
        raise ResultsError(f"{path} is not a results file: it says that it is {results.name!r}.")
    return results
