"""The files of a model, by name: in a folder, in the hub's cache, or in a listing of the hub.
Selects those that are needed to load it, and finds models on this machine. Contacts no server.

Weights are safetensors only, because other formats can run code. Which files have them is the same
decision for a folder, the hub's cache and a listing of the hub, and the one of `transformers`:
model.safetensors if there is one, otherwise the files that the index names. The cache has the
layout of `huggingface_hub`: a folder for each model, with `snapshots/COMMIT/FILE` and `refs/main`.

JSON files are untrusted: their size and depth are checked. An object with a repeated key is
rejected, because Python uses the last of the values, but another parser may use the first."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from huggingface_hub import constants

from sequoia.errors import BadModel, SequoiaError
from sequoia.validate_input import shown

MAX_DEPTH = 64  # levels of lists and objects


def read_object(
    path: Path, what: str, most_bytes: int, error: type[SequoiaError]
) -> dict[str, Any]:
    """The JSON object in the file at `path`. Raises `error` as `read_bytes` and `object_of` do."""
    return object_of(read_bytes(path, what, most_bytes, error), what, error)


def read_bytes(path: Path, what: str, most_bytes: int, error: type[SequoiaError]) -> bytes:
    """The content of the file at `path`. Raises `error` if it cannot be read or has more than
    `most_bytes` bytes. what: the file's name in the message."""
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as problem:
        raise error(f"{what} cannot be read ({problem.strerror})") from None
    if len(data) > most_bytes:
        raise error(f"{what} is larger than the {most_bytes / 1e6:g} MB allowed")
    return data


def object_of(data: bytes, what: str, error: type[SequoiaError]) -> dict[str, Any]:
    """The JSON object in `data`. NaN and Infinity are allowed, as in Python. Raises `error` if
    `data` is not a JSON object, is nested too deeply, repeats a key within an object, or contains
    an integer with too many digits for Python. what: the name of the data in the message."""
    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=_unique_keys)
    except UnicodeDecodeError as problem:
        raise error(
            f"{what} is not UTF-8 text (the byte at offset {problem.start} is not part of any "
            "character)"
        ) from None
    except json.JSONDecodeError as problem:
        raise error(
            f"{what} is not valid JSON (line {problem.lineno}, column {problem.colno})"
        ) from None
    except RecursionError:
        raise error(f"{what} is nested deeper than the {MAX_DEPTH} levels allowed") from None
    except _DuplicateKey as problem:
        raise error(f"{what} has the key {problem} twice") from None
    except ValueError:
        raise error(f"{what} contains an integer with thousands of digits") from None
    if not isinstance(found, dict):
        raise error(f"{what} is JSON but not an object; it must begin with {{ and end with }}")
    if _depth(found) > MAX_DEPTH:
        raise error(f"{what} is nested deeper than the {MAX_DEPTH} levels allowed")
    return found


class _DuplicateKey(ValueError):
    pass


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
    raise _DuplicateKey(repr(key[:60]))


def _depth(value: Any) -> int:
    """How many levels of lists and objects `value` has, its own included."""
    levels = 0
    row = [value]
    while row:
        levels += 1
        row = [inner for outer in row for inner in _inside(outer) if isinstance(inner, dict | list)]
    return levels


def _inside(value: dict[str, Any] | list[Any]) -> list[Any]:
    return [*value.values()] if isinstance(value, dict) else value


_MOST = 5000  # files listed in sub-folders
ONE_FILE = "model.safetensors"
INDEX = "model.safetensors.index.json"
MOST_INDEX_BYTES = 32_000_000
_PART = r"\w[\w.-]{0,200}"
_SAFETENSORS = re.compile(rf"({_PART}/){{0,4}}{_PART}\.safetensors")


@dataclass(frozen=True)
class ListedFiles:
    """title: the model's name in messages. names: those of the files that are not in a sub-folder.
    below: names of files in sub-folders ("sub/name"), not always all of them. has: whether there is
    a file of this name, which may be in a sub-folder. read: the content of the file of this name,
    which may have at most so many bytes; raises BadModel."""

    title: str
    names: Collection[str]
    below: Callable[[], Collection[str]]
    has: Callable[[str], bool]
    read: Callable[[str, int], bytes]

    @cached_property
    def weights(self) -> list[str]:
        """The names of the files with the weights. Raises BadModel if there are none, or if the
        index is not valid or names a file that is not there."""
        if ONE_FILE in self.names:
            return [ONE_FILE]
        if INDEX in self.names:
            return sorted(set(self.index.values()))
        others = [name for name in (*self.names, *self.below()) if name.endswith(".safetensors")]
        if not others:
            raise BadModel(
                f"{self.title} has no weights: no .safetensors file, only {first(self.names)}"
            )
        raise BadModel(
            f"{self.title} has {first(others)}, but neither {ONE_FILE} nor {INDEX}, the index that "
            "says which tensor is in which file"
        )

    @cached_property
    def index(self) -> dict[str, str]:
        """Tensor -> file name, from the index. Raises BadModel as `weights` does."""
        what = f"{self.title}: {INDEX}"
        found = object_of(self.read(INDEX, MOST_INDEX_BYTES), what, BadModel)
        where = found.get("weight_map")
        if not isinstance(where, dict) or not where or not isinstance(found.get("metadata"), dict):
            raise BadModel(
                f"{what} has no metadata, or no weight_map that says which tensor is in which file"
            )
        for file in set(map(_text, where.values())):
            if not _SAFETENSORS.fullmatch(file):
                raise BadModel(
                    f"{what} names {shown(file)}, which is not a .safetensors file in the folder; "
                    "other weight formats may run code and are not loaded"
                )
            if not self.has(file):
                raise BadModel(f"{what} names {shown(file)}, which is not there")
        return where


def files_in(folder: Path, title: str) -> ListedFiles:
    """The files in `folder`. Raises OSError if it cannot be read."""
    return ListedFiles(
        title,
        frozenset(path.name for path in folder.iterdir() if path.is_file()),
        lambda: [f"{path.parent.name}/{path.name}" for path in islice(folder.glob("*/*"), _MOST)],
        lambda name: (folder / name).is_file(),
        lambda name, most: read_bytes(folder / name, f"{title}: {name}", most, BadModel),
    )


def first(names: Collection[str]) -> str:
    """The first three of the sorted `names`, in words."""
    return ", ".join(name[:80] for name in sorted(names)[:3]) + (", ..." if len(names) > 3 else "")


def _text(value: object) -> str:
    return value if isinstance(value, str) else shown(value)


_SMALL = frozenset(
    {
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "tokenizer.model",
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.json",
        "vocab.txt",
        "merges.txt",
        "chat_template.jinja",
        "chat_template.json",
        INDEX,
    }
)
COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


def is_hub_id(ref: str) -> bool:
    """Whether `ref` has the form of a hub id: "name" or "owner/name"."""
    return bool(_HUB_ID.fullmatch(ref)) and ".." not in ref and "--" not in ref


def small_files(names: Iterable[str]) -> list[str]:
    """The configs, the tokenizer files and the index of the weights among a model's file
    `names`."""
    return sorted(_SMALL.intersection(names))


def is_whole(folder: Path) -> bool:
    """Whether `folder` has a config and all weight files. A folder with a broken link among the
    files to load is not whole."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    try:
        _ = files_in(folder, folder.name).weights
    except BadModel:
        return False
    return "config.json" in names and all((folder / name).exists() for name in small_files(names))


def hub_folder(ref: str) -> Path:
    """The folder of the model `ref` in the hub's cache. It may not exist."""
    return Path(constants.HF_HUB_CACHE).expanduser() / f"models--{ref.replace('/', '--')}"


def cached(ref: str, revision: str = "") -> Path | None:
    """The folder of one complete commit of the model `ref` in the hub's cache, or None. Prefers the
    commit `revision`, then the commit in `refs/main`, then the most recently changed folder."""
    main = hub_folder(ref) / "refs" / "main"
    known = [revision, main.read_text(encoding="utf-8").strip() if main.is_file() else ""]
    first = [hub_folder(ref) / "snapshots" / commit for commit in known if COMMIT.fullmatch(commit)]
    return next((folder for folder in [*first, *snapshots(ref)] if is_whole(folder)), None)


def snapshots(ref: str) -> list[Path]:
    """The folders of the commits of the model `ref` in the hub's cache, complete or not. The most
    recently changed one comes first."""
    found = (hub_folder(ref) / "snapshots").glob("*")
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
