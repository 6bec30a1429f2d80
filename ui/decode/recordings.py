"""Recordings of current and finished runs. They are kept in memory, so that a reloaded page can
show them again. They can also be saved as files and opened from files."""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from sequoia import Recorder, Run, SequoiaError, StepTrace, Tree
from sequoia.assets_folder import ASSETS
from sequoia.errors import BadTrace
from sequoia.validate_input import MAX_JSON_BYTES, shown
from ui.decode import messages
from ui.decode.request import DecodeRequest
from ui.shared.speedup_meta import Timed
from ui.shared.uploads import uploaded_json

RUNS = ASSETS / "runs"
WELCOME = "welcome"
WELCOME_TITLE = "The run of the film"
WELCOME_ABOUT = (
    "The run of the film, at temperature 0. Its speed-up is near the median of 24 prompts."
)
NODE_BYTES = 100  # approximate memory of one node of one step


def new_name() -> str:
    """A random name, too long to guess. Anyone who has the name can load the run."""
    return secrets.token_urlsafe(9)


def file_name(what: str, meta: Mapping[str, Any]) -> str:
    """The file name of a saved run or race (`what`), such as sequoia-run-2026-11-22-1250.json. The
    date is left out if `meta` has no valid one."""
    date = meta.get("date")
    matched = (
        re.fullmatch(r"(\d{4}-\d\d-\d\d) (\d\d):(\d\d)", date, re.ASCII)
        if isinstance(date, str)
        else None
    )
    return (
        f"sequoia-{what}-{matched[1]}-{matched[2]}{matched[3]}.json"
        if matched
        else f"sequoia-{what}.json"
    )


class Recording:
    """A run of the Decode view, in progress or finished. request, timed: what a further run needs,
    and the runs that the verdict is computed from, each with its plain run; empty until plain
    decoding was timed."""

    request: DecodeRequest | None = None
    timed: tuple[Timed, ...] = ()

    def __init__(self, recorder: Recorder, meta: Mapping[str, Any]) -> None:
        self.name = new_name()
        self._recorder = recorder
        self._trees: dict[Tree, int] = {}
        self._sent = 0
        self.meta = dict(meta)

    @property
    def node_count(self) -> int:
        return self._recorder.node_count

    @property
    def pending(self) -> str:
        """The text held back after the last token."""
        return self._recorder.pending

    def add(self, made: Iterable[StepTrace]) -> dict[str, Any]:
        """Record the steps `made`. Returns the fields of a message about them."""
        added = [self._recorder.add(trace) for trace in made]
        first = self._sent
        self._sent += len(added)
        steps, self._trees = messages.steps_part(added, self._trees)
        return {"from": first, **steps}

    def run(self) -> Run:
        return replace(self._recorder.run(), meta=dict(self.meta))


class Finished:
    """A finished run that was opened from a file or comes from another view."""

    def __init__(self, run: Run) -> None:
        self.name = new_name()
        self.node_count = sum(len(step.tree) for step in run.steps)
        self._run = run

    def run(self) -> Run:
        return self._run


class Storable(Protocol):
    """An item of a RunStore. node_count: its size, usually the number of nodes in all its steps;
    more for a race whose texts take more memory than its nodes."""

    @property
    def name(self) -> str: ...
    @property
    def node_count(self) -> int: ...


K = TypeVar("K", bound=Storable)


class RunStore(Generic[K]):
    """The recordings that were `put` most recently. Each `put` drops the oldest ones until at most
    `runs` remain, with at most `nodes` nodes in total. The newest one always stays, whatever its
    size."""

    def __init__(self, runs: int, nodes: int) -> None:
        self._runs = runs
        self._nodes = nodes
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, K] = OrderedDict()

    def put(self, recording: K) -> None:
        with self._lock:
            self._kept[recording.name] = recording
            self._kept.move_to_end(recording.name)
            while len(self._kept) > 1 and (
                len(self._kept) > self._runs or self._total() > self._nodes
            ):
                self._kept.popitem(last=False)

    def get(self, name: Any) -> K | None:
        with self._lock:
            return self._kept.get(name) if isinstance(name, str) else None

    def _total(self) -> int:
        return sum(recording.node_count for recording in self._kept.values())


@dataclass(frozen=True)
class Shown:
    """A run to show. message: shows it in the browser. file, file_name: text and name of the file
    that Save offers. prompt: the run's prompt; empty if it is not known."""

    message: str
    file: str
    file_name: str
    prompt: str = ""


def opened(path: Any, most: int) -> Run:
    """The run in the file at `path`, labelled by `played`, which also checks its meta. most: as
    for `json_of`. Raises BadTrace if the file contains no valid run, or a run without steps."""
    return played(Run.from_dict(json_of(path, most, "run")))


def json_of(path: Any, most: int, name: str) -> Mapping[str, Any]:
    """The JSON object in the file at `path`. most: maximum bytes of the file; above
    MAX_JSON_BYTES it counts as MAX_JSON_BYTES. name: the kind of file, "run" or "race". Raises
    BadTrace with a message for the visitor."""
    return uploaded_json(path, min(most, MAX_JSON_BYTES), name, BadTrace)


def played(run: Run) -> Run:
    """`run` with the meta that `messages.recorded` returns. Its label is then "recorded" or
    "simulated", not "measured". Raises BadTrace if `run` has no steps or `messages.recorded`
    refuses its meta."""
    if not run.steps:
        raise BadTrace("the run contains no steps, so there is nothing to play")
    return replace(run, meta=messages.recorded(run.meta))


def shown_as(run: Run, name: str, stored: bool) -> Shown:
    """`run`, to be shown under `name`. stored: whether it is in a RunStore."""
    return Shown(
        messages.whole(run, name, stored),
        run.to_json(),
        file_name("run", run.meta),
        str(run.meta.get("prompt", "")),
    )


@dataclass(frozen=True)
class Example:
    """A recorded run shipped with the program. name: the file's name without its suffix. about:
    what the run shows, in words."""

    name: str
    title: str
    about: str


def examples() -> list[Example]:
    """The recorded runs shipped with the program, in the order of the menu. Files that cannot be
    read are skipped."""
    found = []
    for name, path in shipped().items():
        with suppress(SequoiaError, OSError, ValueError, LookupError, TypeError):
            meta = opened(str(path), MAX_JSON_BYTES).meta
            title, about = (WELCOME_TITLE, WELCOME_ABOUT) if name == WELCOME else (name, "")
            found.append(Example(name, meta.get("title", title), meta.get("about", about)))
    return found


def example(name: Any) -> Shown:
    """The shipped run called `name`, without what only the film says of it. Raises BadTrace if
    there is none or it cannot be read."""
    path = shipped().get(name) if isinstance(name, str) else None
    if path is None:
        raise BadTrace(f"there is no example {shown(name)}; choose one of {', '.join(shipped())}")
    run = opened(str(path), MAX_JSON_BYTES)
    meta = {key: value for key, value in run.meta.items() if key != "opening"}
    return shown_as(replace(run, meta=meta), new_name(), stored=False)


def first() -> Shown | None:
    """The first of `examples`."""
    found = examples()
    return example(found[0].name) if found else None


def shipped() -> dict[str, Path]:
    """Paths of the recorded runs shipped with the program, by name. The run named WELCOME comes
    first, if there is one."""
    return {
        path.stem: path
        for path in sorted(RUNS.glob("*.json"), key=lambda path: (path.stem != WELCOME, path.stem))
    }


def film() -> Shown | None:
    """The run of the film: the first of `shipped` that can be read. None if none can
    be read."""
    for path in shipped().values():
        try:
            return shown_as(opened(str(path), MAX_JSON_BYTES), new_name(), stored=False)
        except SequoiaError:
            continue
    return None
