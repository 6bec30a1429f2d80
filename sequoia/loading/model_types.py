"""Which model types of `transformers` can run a token tree: the list in assets, written by
`python -m sequoia.sweep`."""

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
    """One type. result: "runs"; "partly" (only under `condition`); "refused"; or "not built" where
    `transformers` itself cannot build it. reason: why the type's default config does not run, ""
    where it does. tried: number of configs that were decoded and compared. without: options that
    are refused, each with its reason."""

    name: str
    result: str
    reason: str = ""
    condition: str = ""
    tried: int = 0
    without: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class KnownTypes:
    """All causal model types of one version of `transformers`, by name."""

    transformers: str
    types: tuple[ModelType, ...]

    def count(self, result: str) -> int:
        return sum(one.result == result for one in self.types)

    def to_text(self) -> str:
        """The list as the text of a file."""
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
