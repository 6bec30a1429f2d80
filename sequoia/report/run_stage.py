"""Runs one stage of the report in a separate process. There is an outcome even if the process
crashes or hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sequoia.report.child import ROOT
from sequoia.report.stage import Outcome, Stage
from sequoia.text_files import load_json

OUTCOME = "outcome.json"  # written by stages that are tasks (see sequoia/report/tasks)
LOG = "log.txt"
_SCRIPT = Path(__file__).with_name("child.py")
_LONGEST = 300  # maximum characters of a printed line or an error message in an outcome


def run_stage(stage: Stage, folder: Path, scratch: Path, seconds: float) -> Outcome:
    """Run `stage` in `folder` for at most `seconds`, and no longer than the stage's own limit.
    Caches and temporary files are written to `scratch`."""
    limit = min(stage.limit, seconds)
    start = time.monotonic()
    with (folder / LOG).open("wb") as log:
        process = _started(stage, folder, scratch, log)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
    found = _ended(stage, folder, limit) if code is None else _outcome(stage, folder, code)
    return Outcome(found.status, found.words, round(time.monotonic() - start, 1), found.figures)


def _started(stage: Stage, folder: Path, scratch: Path, log: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", str(_SCRIPT), stage.module, *stage.arguments],
        cwd=folder,
        env=_environment(scratch),
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # a process group of its own, so that its children can be killed
    )


def _environment(scratch: Path) -> dict[str, str]:
    """This process's environment, with variables set for the stage. Some of them forbid downloads
    and put caches and temporary files into `scratch`."""
    scratch.mkdir(parents=True, exist_ok=True)
    places = {
        "TMPDIR": "tmp",
        "TRITON_CACHE_DIR": "triton",
        "CUDA_CACHE_PATH": "cuda",
        "TORCHINDUCTOR_CACHE_DIR": "inductor",
    }
    for name in places.values():
        (scratch / name).mkdir(exist_ok=True)
    return {
        **os.environ,
        **{variable: str(scratch / name) for variable, name in places.items()},
        "HF_HUB_OFFLINE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and, if the system has process groups, the processes that it started. They
    may still be running when the process itself has ended."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    with suppress(OSError):
        process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess]


def _ended(stage: Stage, folder: Path, limit: float) -> Outcome:
    """The outcome of a stage that was stopped after `limit` seconds: "failed" if that is the
    stage's own limit, "cut" if the time for the whole report ran out first."""
    words = f"stopped after {limit:.0f} s; its last line: {_last_line(folder)}"
    return Outcome("failed" if limit >= stage.limit else "cut", words)


def _outcome(stage: Stage, folder: Path, code: int) -> Outcome:
    """The outcome of a process that ended with status `code`."""
    if code < 0:
        return Outcome("failed", f"killed by {_signal(-code)}; its last line: {_last_line(folder)}")
    if code:
        return Outcome("failed", f"exit status {code}: {_last_line(folder)}")
    try:
        found = _written(folder) or Outcome("done", _last_line(folder, stage.line))
    except (OSError, ValueError, LookupError, TypeError) as problem:
        return Outcome("failed", f"its {OUTCOME} cannot be read: {problem}"[:_LONGEST])
    missing = [name for name in stage.files if not (folder / name).is_file()]
    if found.status == "done" and missing:
        return Outcome("failed", f"it did not write {', '.join(missing)}")
    return found


def _written(folder: Path) -> Outcome | None:
    """The outcome that the stage wrote. None for modules that write none, such as pytest."""
    path = folder / OUTCOME
    return Outcome.from_dict(load_json(path)) if path.is_file() else None


def _signal(number: int) -> str:
    name = signal.Signals(number).name if number in [*signal.Signals] else f"signal {number}"
    return f"{name}, usually because memory ran out" if name == "SIGKILL" else name


def _last_line(folder: Path, having: str = "") -> str:
    """The last printed line that contains `having`. If there is none, a text that says so. Each
    state of a progress bar counts as a line."""
    text = (folder / LOG).read_text(encoding="utf-8", errors="replace").replace("\r", "\n")
    lines = [line.strip() for line in text.splitlines() if line.strip() and having in line]
    if lines:
        return lines[-1][:_LONGEST]
    return f'no line with "{having}" was printed' if having else "nothing was printed"
