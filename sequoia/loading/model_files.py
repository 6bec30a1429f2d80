"""The files of a model, by name: in a folder, in the hub's cache, or in a listing of the hub.
Selects those that are needed to load it, refuses what is not a model with plain safetensors
weights, and finds models on this machine. Contacts no server.

Weights are safetensors only, because other formats can run code. Which files have them is the same
decision for a folder, the hub's cache and a listing of the hub, and the one of `transformers`:
model.safetensors if there is one, otherwise the files that the index names. The cache has the
layout of `huggingface_hub`: a folder for each model, with `snapshots/COMMIT/FILE` and `refs/main`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from huggingface_hub import constants

from sequoia.errors import BadModel, reason
from sequoia.this_machine.dtypes import DTYPES
from sequoia.validate_input import shown


def read_object(path: Path, what: str) -> dict[str, Any]:
    """The JSON object in the file at `path`. Raises BadModel if it cannot be read, or as
    `object_of` does. what: the file's name in the message."""
    return object_of(_content(path, what), what)


def _content(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise BadModel(f"{what} cannot be read ({problem.strerror})") from None


def object_of(data: bytes, what: str) -> dict[str, Any]:
    """The JSON object in `data`. NaN and Infinity are allowed, as in Python. Raises BadModel if
    `data` is not a JSON object. what: the name of the data in the message."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise BadModel(f"{what} is not valid JSON ({reason(problem)})") from None
    if not isinstance(found, dict):
        raise BadModel(f"{what} is JSON but not an object; it must begin with {{ and end with }}")
    return found


_MOST = 5000  # files listed in sub-folders
CONFIG = "config.json"
ONE_FILE = "model.safetensors"
INDEX = "model.safetensors.index.json"


@dataclass(frozen=True)
class ListedFiles:
    """title: the model's name in messages. names: those of the files, with their sub-folders
    ("sub/name"). read_index: the content of INDEX; raises BadModel."""

    title: str
    names: frozenset[str]
    read_index: Callable[[], bytes]

    @cached_property
    def weights(self) -> list[str]:
        """The names of the files with the weights. Raises BadModel if there are none, or if the
        index is not valid or names a file that is not there."""
        if ONE_FILE in self.names:
            return [ONE_FILE]
        if INDEX in self.names:
            return sorted(set(self.index.values()))
        others = [name for name in self.names if name.endswith(".safetensors")]
        if not others:
            raise BadModel(
                f"{self.title} has no weights: no .safetensors file, only {first(self.names)}; "
                "other formats (such as GGUF, or pickles, which can run code) are not loaded"
            )
        raise BadModel(
            f"{self.title} has {first(others)}, but neither {ONE_FILE} nor {INDEX}, the index that "
            "says which tensor is in which file"
        )

    @cached_property
    def index(self) -> dict[str, str]:
        """Tensor -> file name, from the index. Raises BadModel as `weights` does."""
        what = f"{self.title}: {INDEX}"
        found = object_of(self.read_index(), what)
        where = found.get("weight_map")
        if not isinstance(where, dict) or not where or not isinstance(found.get("metadata"), dict):
            raise BadModel(
                f"{what} has no metadata, or no weight_map that says which tensor is in which file"
            )
        for file in set(map(str, where.values())):
            if not file.endswith(".safetensors"):
                raise BadModel(
                    f"{what} names {shown(file)}, which is not a .safetensors file in the folder; "
                    "other weight formats may run code and are not loaded"
                )
            if file not in self.names:
                raise BadModel(f"{what} names {shown(file)}, which is not there")
        return where


def files_in(folder: Path, title: str) -> ListedFiles:
    """The files in `folder`. Raises OSError if it cannot be read."""
    paths = chain(folder.iterdir(), islice(folder.glob("*/**/*"), _MOST))
    return ListedFiles(
        title,
        frozenset(path.relative_to(folder).as_posix() for path in paths if path.is_file()),
        lambda: _content(folder / INDEX, f"{title}: {INDEX}"),
    )


def first(names: Collection[str]) -> str:
    """The first three of the sorted `names`, in words."""
    return ", ".join(name[:80] for name in sorted(names)[:3]) + (", ..." if len(names) > 3 else "")


# -- what is not a model with plain weights --------------------------------------------------------

_ADAPTER = "adapter_config.json"
# fields of a config that only quantised models have
_FIELDS = ("quantization", "quantization_config", "compression_config")


def refuse_other_formats(files: ListedFiles) -> None:
    """Raises BadModel if the files are those of an adapter, or if there is no config."""
    if _ADAPTER in files.names:
        raise BadModel(
            f"{files.title} is an adapter ({_ADAPTER}); merge it into its base model "
            "(`merge_and_unload` of PEFT), save the result and give its folder"
        )
    if CONFIG not in files.names:
        raise BadModel(
            f"{files.title} has no {CONFIG}, the file that names the model's type; it contains "
            f"{first(files.names) or 'no files'}"
        )


def refuse_quantised_config(config: Mapping[str, Any], title: str) -> None:
    """Raises BadModel if `config`, or a part of one, has a field that describes quantisation."""
    for name in _FIELDS:
        if config.get(name) is not None:
            raise BadModel(
                f"{title} is quantised (its config has a {name}); choose a model whose weights are "
                f"not quantised ({', '.join(DTYPES)})"
            )


# -- the hub and its cache -------------------------------------------------------------------------

_SMALL = frozenset(
    {
        CONFIG,
        "draft_of.json",
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
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


def is_hub_id(ref: str) -> bool:
    """Whether `ref` has the form of a hub id: "name" or "owner/name"."""
    return bool(_HUB_ID.fullmatch(ref)) and ".." not in ref and "--" not in ref


def small_files(names: Iterable[str]) -> list[str]:
    """The configs, the tokenizer files and the index of the weights among a model's file
    `names`."""
    return sorted(_SMALL.intersection(names))


def is_whole(folder: Path) -> bool:
    """Whether `folder` has a config and all weight files, and no broken link."""
    if not folder.is_dir() or not all(path.exists() for path in folder.iterdir()):
        return False
    listed = files_in(folder, folder.name)
    try:
        return CONFIG in listed.names and bool(listed.weights)
    except BadModel:
        return False


def hub_folder(ref: str) -> Path:
    """The folder of the model `ref` in the hub's cache. It may not exist."""
    return Path(constants.HF_HUB_CACHE).expanduser() / f"models--{ref.replace('/', '--')}"


def cached(ref: str, revision: str = "") -> Path | None:
    """The folder of one complete commit of the model `ref` in the hub's cache, or None. revision:
    the only commit that counts; "" for any. Then the commit in `refs/main` is preferred, and the
    most recently changed folder to others."""
    main = hub_folder(ref) / "refs" / "main"
    snapshots = hub_folder(ref) / "snapshots"
    if revision:
        return next(filter(is_whole, [snapshots / revision]), None)
    found = sorted(snapshots.glob("*"), key=lambda path: path.stat().st_mtime, reverse=True)
    if main.is_file():
        found.insert(0, snapshots / main.read_text(encoding="utf-8").strip())
    return next(filter(is_whole, found), None)
