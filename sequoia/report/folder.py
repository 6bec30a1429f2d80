"""The folder of a report: a result for each stage that has ended, and work in progress.

In the folder OUT, report.json names the machine and the version of the program. OUT/stages/NAME
contains the files of a stage that has ended, and its result.json. Each such folder is moved into
place when it is complete. OUT/running contains work in progress. It is removed when the command
starts, and again when the command ends without an error. OUT/summary.txt is the last printed table.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sequoia.errors import SequoiaError
from sequoia.report.child import ROOT
from sequoia.report.run_stage import LOG, OUTCOME
from sequoia.report.stage import ENDS, Outcome
from sequoia.text_files import load_json, writing
from sequoia.validate_input import as_file, check_format

RESULT = "result.json"
_NOT_KEPT = (OUTCOME,)  # its content is part of result.json


class BadReport(SequoiaError):
    """The folder, or a result in it, cannot be used."""


@dataclass(frozen=True)
class Result:
    """How a stage ended. files: by name, the SHA-256 of each file that it left, except the log."""

    outcome: Outcome
    files: Mapping[str, str]


def program_version() -> str:
    """Twelve hexadecimal digits that change if any Python file of `sequoia` or `ui` changes."""
    digest = hashlib.sha256()
    for path in sorted((*ROOT.glob("sequoia/**/*.py"), *ROOT.glob("ui/**/*.py"))):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Folder:
    """The report in the folder `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stages = path / "stages"
        self._running = path / "running"

    @property
    def scratch(self) -> Path:
        """The folder for temporary files of the stages."""
        return self._running / "scratch"

    @contextmanager
    def opened(self) -> Iterator[None]:
        """A context in which the folder exists and is locked. Work in progress is removed on entry,
        and on exit unless an exception was raised. Raises BadReport if another process has locked
        the folder, and SequoiaError if the folder cannot be written."""
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / "lock").open("a")
        with lock:
            _lock(lock, self.path)
            shutil.rmtree(self._running, ignore_errors=True)
            yield
            shutil.rmtree(self._running, ignore_errors=True)

    def identity(self) -> Mapping[str, str]:
        """The content of report.json: the name of the "machine", and the version of the "program".
        Raises BadReport if there is no readable report.json in the folder."""
        try:
            found = check_format(load_json(self.path / "report.json"), "report", BadReport)
            return {name: str(found[name]) for name in ("machine", "program")}
        except (OSError, ValueError, LookupError) as problem:
            raise BadReport(f"there is no readable report in {self.path}") from problem

    def identify(self, machine: str, program: str) -> None:
        """Mark the folder as the report of `machine` and of the program version `program`. Raises
        BadReport if the folder is already the report of another machine or version, or if its
        report.json is damaged."""
        mine = {"machine": machine, "program": program}
        if not (self.path / "report.json").exists():
            write_at_once(self.path / "report.json", as_file(mine, "report"))
        for name, found in self.identity().items():
            if found != mine[name]:
                what = "program version" if name == "program" else name
                raise BadReport(
                    f"{self.path} contains the report of {what} {found!r}, but this is "
                    f"{mine[name]!r}; choose another folder"
                )

    def work(self, stage: str) -> Path:
        """A new empty folder for a stage."""
        path = self._running / stage
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def finish(self, stage: str, outcome: Outcome) -> None:
        """Store the outcome in the stage's working folder, and move that folder to the results. An
        earlier result of the stage is moved away."""
        work = self._running / stage
        for name in _NOT_KEPT:
            (work / name).unlink(missing_ok=True)
        files = {
            path.relative_to(work).as_posix(): checksum(path)
            for path in sorted(work.rglob("*"))
            if path.is_file() and path.name != LOG
        }
        write_at_once(work / RESULT, as_file({**outcome.to_dict(), "files": files}, "result"))
        self.stages.mkdir(exist_ok=True)
        if (self.stages / stage).exists():
            (self.stages / stage).rename(self._running / f"{stage}, earlier")
        work.rename(self.stages / stage)

    def result(self, stage: str) -> Result | None:
        """The stored result of a stage. None if there is none, or its file is damaged."""
        try:
            path = self.stages / stage / RESULT
            data = check_format(load_json(path), "result", BadReport)
            files = {str(name): str(digest) for name, digest in data["files"].items()}
            return Result(Outcome.from_dict(data), files)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, BadReport):
            return None

    def has_ended(self, stage: str) -> bool:
        found = self.result(stage)
        return found is not None and found.outcome.status in ENDS


def write_at_once(path: Path, data: Any) -> None:
    """Write `data` as JSON, so that no reader finds a half-written file."""
    write_text_at_once(path, json.dumps(data, indent=1) + "\n")


def write_text_at_once(path: Path, text: str) -> None:
    """Write `text` to a file beside `path`. Once the text is on the disk, rename the file to
    `path`."""
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _lock(file: Any, path: Path) -> None:
    """Lock `file` until it is closed, if the system supports locks. path: the folder, for the
    message. Raises BadReport if another process has locked `file`."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        raise BadReport(
            f"another command is writing to {path}; wait until it ends, or choose another folder"
        ) from problem
