"""The list of `transformers` model types in assets/model_types.json. It says which types can run a
token tree. This module reads the file, and converts a list to the file's text. The command
`python -m sequoia.bench --model-types` makes the list and writes the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sequoia.assets_folder import ASSETS
from sequoia.errors import BadModel
from sequoia.validate_input import as_file, read_file, write_file

FILE = ASSETS / "model_types.json"
RESULTS = ("runs", "partly", "refused", "not built")
_MOST_CHARS = 1_000_000


@dataclass(frozen=True)
class ModelType:
    """A model type and the outcome of its tests. result: "runs"; "partly" (runs only if its default
    config is changed); "refused"; or "not built" (no toy model of it runs in `transformers`).
    reason: why the default config does not run, "" if it does. condition: the change that makes a
    "partly" type run, "" for other types. tried: number of configs that ran and gave the output of
    `transformers`' own `generate()`; 0 for a type that is refused or not built. without: changes
    of the config that are refused, each with the reason. A refused type has at most one entry: the
    change that was tried to make it run. The entry is left out if its reason is that of the default
    config."""

    name: str
    result: str
    reason: str = ""
    condition: str = ""
    tried: int = 0
    without: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class KnownTypes:
    """All causal model types of one version of `transformers`, sorted by name."""

    transformers: str
    types: tuple[ModelType, ...]

    def count(self, result: str) -> int:
        """Number of types with this result."""
        return sum(one.result == result for one in self.types)

    def to_text(self) -> str:
        """The list as the text of its file."""
        rows = [asdict(one) for one in self.types]
        content = as_file({"transformers": self.transformers, "types": rows}, "model-types")
        return write_file(content, "model-types", _MOST_CHARS, BadModel)


def known_types(file: Path = FILE) -> KnownTypes:
    """The list in `file`. Raises BadModel if the file is damaged."""
    return read_file(file.read_text(encoding="utf-8"), "model-types", _MOST_CHARS, BadModel, _read)


def _read(data: dict) -> KnownTypes:
    return KnownTypes(str(data["transformers"]), tuple(map(_type, data["types"])))


def _type(row: dict) -> ModelType:
    without: Sequence[Sequence[str]] = row.pop("without")
    found = ModelType(**row, without=tuple((str(option), str(why)) for option, why in without))
    if found.result not in RESULTS:
        raise BadModel(
            f"{found.name}: the result {found.result!r} is not one of {', '.join(RESULTS)}"
        )
    return found
