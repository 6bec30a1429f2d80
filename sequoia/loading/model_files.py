"""The files of a model, by name: in a folder, in the hub's cache, or in a listing of the hub.
Selects those that are needed to load it, and finds models on this machine. Contacts no server.

Weights are safetensors only, because other formats can run code. Which files have them is the same
decision for a folder, the hub's cache and a listing of the hub, and the one of `transformers`:
model.safetensors if there is one, otherwise the files that the index names. The cache has the
layout of `huggingface_hub`: a folder for each model, with `snapshots/COMMIT/FILE` and `refs/main`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from huggingface_hub import constants

from sequoia.errors import BadModel
from sequoia.loading.json_file import object_of, read_bytes
from sequoia.validate_input import shown

_MOST = 5000  # files listed in sub-folders


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


ONE_FILE = "model.safetensors"
INDEX = "model.safetensors.index.json"
MOST_INDEX_BYTES = 32_000_000
_PART = r"\w[\w.-]{0,200}"
_SAFETENSORS = re.compile(rf"({_PART}/){{0,4}}{_PART}\.safetensors")


def weight_files(files: ListedFiles) -> list[str]:
    """The names of the files with the weights. Raises BadModel if there are none, or if the index
    is not valid or names a file that is not there."""
    if ONE_FILE in files.names:
        return [ONE_FILE]
    if INDEX in files.names:
        return sorted(set(weight_map(files).values()))
    others = [name for name in (*files.names, *files.below()) if name.endswith(".safetensors")]
    if not others:
        raise BadModel(
            f"{files.title} has no weights: no .safetensors file, only {first(files.names)}"
        )
    raise BadModel(
        f"{files.title} has {first(others)}, but neither {ONE_FILE} nor {INDEX}, the index that "
        "says which tensor is in which file"
    )


def weight_map(files: ListedFiles) -> dict[str, str]:
    """Tensor -> file name, from the index. Raises BadModel as `weight_files` does."""
    what = f"{files.title}: {INDEX}"
    found = object_of(files.read(INDEX, MOST_INDEX_BYTES), what, BadModel)
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
        if not files.has(file):
            raise BadModel(f"{what} names {shown(file)}, which is not there")
    return where


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
        weight_files(files_in(folder, folder.name))
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
