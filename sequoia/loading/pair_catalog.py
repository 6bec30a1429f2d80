"""Tested pairs that can be loaded by name, by the machine they are for.

Data: assets/pair_catalog.json. Loads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sequoia.assets_folder import ASSETS
from sequoia.errors import BadModel
from sequoia.text_files import load_json
from sequoia.validate_input import read_each, shown

FILE = ASSETS / "pair_catalog.json"
BUNDLED_NAME = "bundled"


@dataclass(frozen=True)
class Model:
    """Published facts of a model. bytes: of its safetensors files. gated: its licence has to be
    accepted on its page first. chat: its tokenizer has a chat template. source: where `bytes` is
    from. revision: the commit that is used, as read from the hub on `revision_date`; "" for the
    newest one. pickle: it is published only as a pickle, which is refused."""

    id: str
    parameters: int
    bytes: int
    licence: str
    gated: bool
    chat: bool
    source: str
    revision: str = ""
    revision_date: str = ""
    pickle: bool = False


@dataclass(frozen=True)
class Preset:
    """A pair by name. tier: the machine it is for. needs: its requirements in words. note: anything
    else to know. offload: the target's layers are streamed from host memory."""

    name: str
    tier: str
    target: Model
    draft: Model
    needs: str
    note: str = ""
    offload: bool = False

    @property
    def models(self) -> tuple[Model, Model]:
        return self.target, self.draft


@cache
def presets() -> tuple[Preset, ...]:
    """All pairs that have a name, except the bundled one. A damaged file, or pairs of it, are
    skipped."""
    return read_each([(FILE.name, FILE)], _read).get(FILE.name, ())


def _read(file: Path) -> tuple[Preset, ...]:
    data = load_json(file)
    models = data["models"]

    def pair(row: dict[str, Any]) -> Preset:
        both = {role: Model(row[role], **models[row[role]]) for role in ("target", "draft")}
        return Preset(**{**row, **both})

    rows = ((f"pair {i} of {file.name}", row) for i, row in enumerate(data["pairs"], 1))
    return tuple(read_each(rows, pair).values())


def find(name: Any) -> Preset | None:
    """The pair called `name`; None for the bundled pair and for unknown names."""
    return next((one for one in presets() if one.name == name), None)


def preset(name: Any) -> Preset:
    """The pair called `name`. Raises BadModel, which lists the known ones."""
    if found := find(name):
        return found
    known = ", ".join([BUNDLED_NAME, *(one.name for one in presets())])
    raise BadModel(
        f"unknown pair {shown(name)}; known: {known}; for other models give draft= and target="
    )
