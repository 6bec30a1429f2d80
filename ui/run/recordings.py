"""Recorded runs: those made or opened here, which are kept in memory so that a reloaded page can
show them again, and those shipped with the program."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sequoia import SequoiaError
from sequoia.assets_folder import ASSETS
from sequoia.errors import BadTrace
from sequoia.saved_files.race_file import RaceLog
from sequoia.validate_input import MAX_JSON_BYTES, shown
from ui.run.messages import OpenedRun, StoredRun
from ui.shared.uploads import uploaded_json

RUNS = ASSETS / "runs"
WELCOME = "welcome"  # the run of the film; that of another pair's film has the draft's name too
NODE_BYTES = 100  # approximate memory of one node of one step
_MEMORY_PER_BYTE = 5  # bytes of memory that a byte of a file takes, about


def file_name(meta: Mapping[str, Any]) -> str:
    """The file name of a saved run, such as sequoia-run-2026-11-22-1250.json. The date is left out
    if `meta` has no valid one."""
    date = meta.get("date")
    matched = (
        re.fullmatch(r"(\d{4}-\d\d-\d\d) (\d\d):(\d\d)", date, re.ASCII)
        if isinstance(date, str)
        else None
    )
    return (
        f"sequoia-run-{matched[1]}-{matched[2]}{matched[3]}.json" if matched else "sequoia-run.json"
    )


class RunStore:
    """The runs that were `put` most recently. Each `put` drops the oldest ones until at most `runs`
    remain, with at most `nodes` nodes in all steps of all their lanes. The newest one always stays,
    whatever its size."""

    def __init__(self, runs: int, nodes: int) -> None:
        self._runs = runs
        self._nodes = nodes
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, StoredRun] = OrderedDict()

    def put(self, run: StoredRun) -> None:
        with self._lock:
            self._kept[run.name] = run
            self._kept.move_to_end(run.name)
            while len(self._kept) > 1 and (
                len(self._kept) > self._runs or self._total() > self._nodes
            ):
                self._kept.popitem(last=False)

    def get(self, name: Any) -> StoredRun | None:
        with self._lock:
            return self._kept.get(name) if isinstance(name, str) else None

    def _total(self) -> int:
        return sum(run.node_count for run in self._kept.values())


def opened(path: Any, most: int) -> OpenedRun:
    """The run in the file at `path`. most: maximum bytes of the file; above MAX_JSON_BYTES it
    counts as MAX_JSON_BYTES. Raises BadTrace with a message for the visitor."""
    data = uploaded_json(path, min(most, MAX_JSON_BYTES), "race", BadTrace)
    run = OpenedRun(RaceLog.from_dict(data))
    # a file with small trees can still have long texts
    in_memory = Path(path).stat().st_size * _MEMORY_PER_BYTE
    run.node_count = max(run.node_count, in_memory // NODE_BYTES)
    return run


# -- shipped with the program ----------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """A recorded run shipped with the program. name: the file's name without its suffix. about:
    what the run shows, in words."""

    name: str
    title: str
    about: str


def shipped() -> dict[str, Path]:
    """Paths of the recorded runs shipped with the program, by name. The runs of the films come
    first."""
    return {
        path.stem: path
        for path in sorted(
            RUNS.glob("*.json"), key=lambda path: (not path.stem.startswith(WELCOME), path.stem)
        )
    }


def examples() -> list[Example]:
    """The recorded runs shipped with the program, in the order of the menu. Files that cannot be
    read are skipped."""
    found = []
    for name, path in shipped().items():
        with suppress(SequoiaError):
            meta = opened(str(path), MAX_JSON_BYTES).meta
            found.append(Example(name, meta.get("title", name), meta.get("about", "")))
    return found


def example(name: Any) -> OpenedRun:
    """The shipped run called `name`, without what only the film says of it. Raises BadTrace if
    there is none or it cannot be read."""
    path = shipped().get(name) if isinstance(name, str) else None
    if path is None:
        raise BadTrace(f"there is no example {shown(name)}; choose one of {', '.join(shipped())}")
    run = _read(path)
    run.meta.pop("opening", None)
    return run


def example_shown_as(name: Any) -> OpenedRun | None:
    """The shipped run that a page shows under `name`; None if there is none."""
    found = name.partition(".")[0] if isinstance(name, str) else ""
    return example(found) if found in shipped() else None


def film_name(draft: str) -> str:
    """The name of the run that the film shows while the draft called `draft` is loaded: the one
    made with this draft, or else the bundled pair's."""
    own = f"{WELCOME}-{draft}"
    return own if own in shipped() else WELCOME


def film(name: str) -> OpenedRun | None:
    """The run called `name`, or another one if it cannot be read; None if none can."""
    for _, path in sorted(shipped().items(), key=lambda one: one[0] != name):
        with suppress(SequoiaError):
            return _read(path)
    return None


def _read(path: Path) -> OpenedRun:
    run = opened(str(path), MAX_JSON_BYTES)
    run.name = f"{path.stem}.{run.name}"  # see `example_shown_as`
    return run
