"""Verifier, drafters and engine settings by name, from assets/presets.toml."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "assets" / "presets.toml"
DEFAULT = "smollm2-cpu"
EMBEDDED = "embedded"
DRAFTERS = ("dflash", "dflash-long", "dcoco", "dcoco-anchored", "domino", "dspark", "selector")
DCOCO_VARIABLE = "DCOCO_VIZ_DCOCO"
NOT_VERIFIED = "not run on this hardware yet"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


class PresetError(ValueError):
    """A preset is unknown or badly written; the message is one plain sentence."""


class Preset(BaseModel):
    """One verifier with the drafters that were trained for it, and how the engine is to run them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    label: str = Field(description="the verifier's name, for people")
    verifier: str = Field(description="'embedded', a hub id, or an absolute folder")
    drafters: dict[str, str] = Field(
        description="hub id or absolute folder by name of the drafter (DRAFTERS); an unnamed one is left out"
    )
    device: Literal["auto", "cuda"] = Field("auto", description="auto: whatever this build of vLLM runs on")
    dtype: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="auto: bfloat16 where the hardware computes in it, else float32"
    )
    max_model_len: int = Field(ge=64, description="tokens of prompt and output together")
    max_num_seqs: int = Field(ge=1, description="requests that decode at once")
    kv_cache_gib: float = Field(gt=0, description="GiB of K/V cache")
    memory_gib: float = Field(gt=0, description="GiB that all of it needs, on the GPU for `cuda`")
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict, description="e.g. enable_thinking")
    verified: bool = Field(False, description="this preset has been run on the hardware that it is meant for")

    @field_validator("drafters")
    @classmethod
    def _known_methods(cls, drafters: dict[str, str]) -> dict[str, str]:
        if unknown := sorted(set(drafters) - set(DRAFTERS)):
            raise ValueError(f"drafters are named {', '.join(DRAFTERS)}, not {', '.join(unknown)}")
        return drafters

    @property
    def note(self) -> str:
        """What a person should know before choosing this preset; empty when there is nothing to say."""
        return "" if self.verified else NOT_VERIFIED


def names() -> list[str]:
    """Names of all presets, the default first."""
    return list(_tables())


def load(name: str = DEFAULT) -> Preset:
    """The preset of this name, its folders made absolute.

    `DCOCO_VIZ_DCOCO` in the environment (a hub id, or a folder as seen from the working directory) takes the
    place of the preset's DCOCO drafter.

    Raises:
        PresetError: no such preset, or one that is badly written.
    """
    tables = _tables()
    if name not in tables:
        raise PresetError(f"There is no preset {name!r}; the presets are {', '.join(tables)}.")
    table = dict(tables[name])
    try:
        drafters = {key: _place(place, ROOT) for key, place in table.get("drafters", {}).items() if place}
        if named := os.environ.get(DCOCO_VARIABLE):
            drafters["dcoco"] = _place(named, Path.cwd())
        if table.get("verifier") != EMBEDDED:
            table["verifier"] = _place(table.get("verifier", ""), ROOT)
        return Preset.model_validate({**table, "drafters": drafters, "name": name})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise PresetError(f"Preset {name!r} in {FILE.name} is not valid: {where}: {first['msg']}.") from error
    except (AttributeError, TypeError) as error:
        raise PresetError(f"Preset {name!r} in {FILE.name} is not valid: {error}.") from error


def how_to_name_dcoco(preset: Preset) -> str:
    """The sentence for a preset whose place for a DCOCO drafter stands empty."""
    return (
        f"Preset {preset.name} has no DCOCO drafter: put its folder or hub id into the environment variable "
        f"{DCOCO_VARIABLE}, or into drafters.dcoco of [{preset.name}] in assets/presets.toml."
    )


def is_local(place: str) -> bool:
    """Whether a verifier or drafter of a loaded preset is a folder here, and not a hub id."""
    return os.path.isabs(place)


def _place(place: str, base: Path) -> str:
    """A hub id as it is (owner/name, and no folder of that name); anything else as an absolute folder."""
    folder = base / Path(place).expanduser()
    if _HUB_ID.fullmatch(place) and not folder.exists():
        return place
    return str(folder.resolve())


def _tables() -> dict[str, dict[str, Any]]:
    try:
        tables = tomllib.loads(FILE.read_text(encoding="utf-8"))
        if not all(isinstance(table, dict) for table in tables.values()):
            raise PresetError(f"Every preset in {FILE} is a table: [name], then its settings.")
        return tables
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PresetError(f"The presets in {FILE} cannot be read: {error}.") from error
