"""The memory limit of the container that the program runs in, read from the files of Linux's
control groups (cgroups). The machine's own memory figures ignore this limit, but a program that
exceeds it is killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
# names of the files with limit and use, in version 2 and in version 1 of control groups
_FILES = (
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
)
# fields of memory.stat with the bytes of cached files, which the system frees when necessary
_CACHES = ("inactive_file", "total_inactive_file")


def most(total: int) -> int:
    """The most bytes that this program can use, on a machine with `total` bytes of memory."""
    return min([total, *(limit for limit, _ in _limits())])


def available(free: int) -> int:
    """The bytes that this program can still allocate, on a machine with `free` bytes free."""
    return max(0, min([free, *(limit - used for limit, used in _limits())]))


def _limits() -> Iterator[tuple[int, int]]:
    """Limit and use, in bytes, of each control group that contains the program and has a limit.
    Cached files that the system frees when necessary are not counted as used."""
    for folder in _folders():
        for names in _FILES:
            try:
                limit, used = (int((folder / name).read_text("ascii")) for name in names)
                yield limit, max(0, used - _file_cache(folder))
            except (OSError, ValueError):  # another version, or the limit is "max": no limit
                continue


def _file_cache(folder: Path) -> int:
    try:
        lines = (folder / "memory.stat").read_text("ascii").splitlines()
    except OSError:
        return 0
    rows = dict(line.split(maxsplit=1) for line in lines if " " in line)
    return max(int(rows.get(name, 0)) for name in _CACHES)


def _folders() -> Iterator[Path]:
    """The folders of the program's control group and of all groups that contain it. The topmost
    folder is included because, inside a container, it is often the container's own group, whatever
    path the file OWN gives."""
    try:
        lines = OWN.read_text("utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        kinds, _, path = rest.partition(":")
        if kinds and "memory" not in kinds.split(","):
            continue
        top = GROUPS / "memory" if kinds else GROUPS
        folder = top / path.lstrip("/")
        yield folder
        yield from (parent for parent in folder.parents if parent.is_relative_to(top))
