"""Suggested pairs of a target and a draft, each with a name. The data is in
assets/pair_catalog.json."""

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
    """Published facts about a model.

    id: its id on the Hugging Face hub. bytes: total size of its weight files. licence: the
    licence's name. gated: the licence must be accepted on the model's page before a download. chat:
    the tokenizer has a chat template. source: where the figure in `bytes` comes from. revision: the
    preferred commit, looked up on the hub on `revision_date`; "" if none is preferred. pickle: the
    model is published only as a pickle file, which is refused.
    """

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
    """A named pair. tier: what the pair is for, or where it comes from, in words. needs: what it
    requires, in words. note: anything else worth knowing. offload: whether layers of the target
    that do not fit on the device are streamed from host memory."""

    name: str
    tier: str
    target: Model
    draft: Model
    needs: str
    note: str = ""
    offload: bool = False

    @property
    def models(self) -> tuple[Model, Model]:
        """The target and the draft."""
        return self.target, self.draft


@cache
def presets() -> tuple[Preset, ...]:
    """All named pairs except the bundled one. Damaged entries of the file are skipped; a damaged
    file gives no pairs."""
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
    """The pair called `name`. None for the bundled pair and for unknown names."""
    return next((one for one in presets() if one.name == name), None)


def preset(name: Any) -> Preset:
    """The pair called `name`, which must not be the bundled one. Raises BadModel with a list of all
    names if there is no such pair."""
    if found := find(name):
        return found
    known = ", ".join([BUNDLED_NAME, *(one.name for one in presets())])
    raise BadModel(
        f"unknown pair {shown(name)}; known: {known}; to load other models, pass draft= and target="
    )
