"""Runs in groups that can be drawn as one series each."""

import functools
import tomllib
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from dcoco_viz.methods import METHODS
from dcoco_viz.presets import ROOT
from dcoco_viz.trace.schema import Run

OWN = "own prompt"


class Series(NamedTuple):
    name: str  # no other series of the picture has it
    method: str
    runs: list[Run]


def each(runs: list[Run]) -> list[Series]:
    """One run a series, named by its method and, where that says too little, by what sets it apart."""
    names = [label(run.request.method) for run in runs]
    for tell in (
        lambda run: f"{run.request.walk} walk",
        lambda run: f"{run.request.slots} slots",
        lambda run: f"T = {run.request.temperature:g}",
        lambda run: run.request.record,
        lambda run: f"seed {run.request.seed}",
        lambda run: run.name,
    ):
        names = _tell_apart(names, [tell(run) for run in runs])
    names = _tell_apart(names, [f"no. {number}" for number, _ in enumerate(runs, 1)])
    return [Series(name, run.request.method, [run]) for name, run in zip(names, runs, strict=True)]


def by_method(runs: list[Run]) -> list[Series]:
    """In the order of METHODS; each pooled over its runs."""
    order = list(METHODS)
    groups = _grouped(runs, lambda run: run.request.method)
    methods = sorted(groups, key=lambda name: (order.index(name) if name in METHODS else len(order), name))
    return [Series(label(method), method, groups[method]) for method in methods]


def by_source(runs: list[Run], method: str) -> list[Series]:
    """Runs of one method by the group of their prompt, the biggest group first."""
    groups = _grouped([run for run in runs if run.request.method == method], source)
    return [Series(name, method, groups[name]) for name in sorted(groups, key=lambda name: -len(groups[name]))]


def source(run: Run) -> str:
    """The group of the example in assets/prompts.toml that was asked, or OWN."""
    return _sources().get(run.request.prompt.strip(), OWN)


def label(method: str) -> str:
    return METHODS[method].label if method in METHODS else method


@functools.cache
def _sources() -> dict[str, str]:
    data = tomllib.loads((ROOT / "assets" / "prompts.toml").read_text(encoding="utf-8"))
    return {prompt["text"].strip(): prompt["group"] for prompt in data["prompts"]}


def _grouped(runs: list[Run], key: Callable[[Run], str]) -> dict[str, list[Run]]:
    groups = defaultdict(list)
    for run in runs:
        groups[key(run)].append(run)
    return groups


def _tell_apart(names: list[str], details: list[str]) -> list[str]:
    """The detail behind every name that several share, if it differs among them."""
    out = []
    for name, detail in zip(names, details, strict=True):
        others = {theirs for other, theirs in zip(names, details, strict=True) if other == name}
        out.append(f"{name}, {detail}" if len(others) > 1 and detail else name)
    return out
