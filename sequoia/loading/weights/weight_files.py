"""Decides which files hold a model's weights, from the names of its files and its index. It is the
same decision for a folder, the hub's cache and a listing of the hub, and the one of `transformers`:
model.safetensors if there is one, otherwise the files that the index names.
"""

from __future__ import annotations

import re

from sequoia.errors import BadModel
from sequoia.loading.json_file import object_of
from sequoia.loading.listed_files import ListedFiles, first
from sequoia.validate_input import shown

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
