"""Recipes: all that decides a training run, in one small TOML file."""

import dataclasses
import tomllib
from pathlib import Path

from dcoco_viz.methods.heads import KINDS

AUTO = "auto"  # a field that verifier and data decide
FOLDER = Path(__file__).parent / "recipes"


class RecipeError(ValueError):
    """The recipe cannot be used; the message says what to do."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Fields are explained in recipes/smollm2-cpu.toml."""

    verifier: str
    target_layer_ids: tuple[int, ...] | str
    mask_token_id: int | str
    draft_layers: int
    label_vocab: int
    loss_vocab: int
    feature_tokens: int
    sequences: int
    micro: int
    anchors: int
    methods: tuple[str, ...]
    shared_steps: int
    branch_steps: int
    long_share: tuple[float, float]
    muon_lr: float
    adam_lr: float
    head_lr: dict[str, float]
    warmup: int
    seed: int
    eval_minutes: float
    eval_prompts: int
    eval_tokens: int
    card_prompts: int

    @property
    def total_steps(self) -> int:
        return self.shared_steps + self.branch_steps


def load(name: str) -> Recipe:
    """Read a shipped recipe by name, or any TOML file by path.

    Raises:
        RecipeError: there is none of that name, or a field is missing or unknown.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        shipped = ", ".join(sorted(p.stem for p in FOLDER.glob("*.toml")))
        raise RecipeError(f"no recipe {name!r}: choose one of {shipped}, or give the path of a .toml file")
    try:
        raw = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{path} is not valid TOML: {error}") from error
    fields = {field.name for field in dataclasses.fields(Recipe)}
    if wrong := fields ^ set(raw):
        raise RecipeError(f"{path}: missing or unknown field(s) {', '.join(sorted(wrong))}")
    if not isinstance(raw["head_lr"], dict) or (wrong := set(KINDS) ^ set(raw["head_lr"])):
        raise RecipeError(f"{path}: head_lr has a rate for each of {', '.join(KINDS)}, and no other")
    return Recipe(**{k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()})
