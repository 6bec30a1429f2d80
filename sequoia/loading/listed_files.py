"""The files of a model, by name: in a folder, in the hub's cache, or in a listing of the hub."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sequoia.errors import BadModel
from sequoia.loading.json_file import read_bytes

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
