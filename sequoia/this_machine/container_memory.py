"""The memory limit of the container that the program runs in, which the machine's own figures do
not show. A program that exceeds it is killed. From the files of Linux's control groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
# limit and use, in version 2 and in version 1
_FILES = (
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
)
_CACHES = ("inactive_file", "total_inactive_file")  # of files, which are dropped when needed


def most(total: int) -> int:
    """Bytes that this program can have at most on a machine with `total`."""
    return min([total, *(limit for limit, _ in _limits())])


def available(free: int) -> int:
    """Bytes that it can still have where the machine has `free`."""
    return max(0, min([free, *(limit - used for limit, used in _limits())]))


def _limits() -> Iterator[tuple[int, int]]:
    """Limit and use of each group that the program is in, as far as they can be read."""
    for folder in _folders():
        for names in _FILES:
            try:
                limit, used = (int((folder / name).read_text("ascii")) for name in names)
                yield limit, max(0, used - _file_cache(folder))
            except (OSError, ValueError):  # no such version, or "max": no limit
                continue


def _file_cache(folder: Path) -> int:
    try:
        lines = (folder / "memory.stat").read_text("ascii").splitlines()
    except OSError:
        return 0
    rows = dict(line.split(maxsplit=1) for line in lines if " " in line)
    return max(int(rows.get(name, 0)) for name in _CACHES)


def _folders() -> Iterator[Path]:
    """The folders of the program's group and of all around it. Inside a container its own group is
    often the top one."""
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
