"""Uploaded JSON files. Large ones are parsed in a separate process, with limits on its memory and
time; see json_worker.py."""

from __future__ import annotations

import marshal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sequoia import SequoiaError
from sequoia.validate_input import check_format, read_json
from ui.shared.json_worker import LENGTH_BYTES, values_of
from ui.shared.uploads import check_upload, uploaded_text

LARGE = 256 * 1024  # bytes; parsing a file of this size takes a few milliseconds
MEMORY = 224 * 1024 * 1024  # bytes that the process may use; a run file of 23 MB takes 160 MB
SECONDS = 20.0
_SCRIPT = Path(__file__).with_name("json_worker.py")
# one large file is parsed at a time, so that several uploads do not multiply the memory used
_alone = threading.Lock()


def uploaded_json(path: Any, most: int, name: str, error: type[SequoiaError]) -> Mapping[str, Any]:
    """The JSON object of format "sequoia-{name}" in the uploaded file at `path`. Raises `error`,
    with a reason for the visitor, if the file has no such object, has more than `most` bytes,
    cannot be read, or takes too much memory or time to parse."""
    kind = f"{name} file"
    if check_upload(path, most, kind, error) <= LARGE:
        return read_json(uploaded_text(path, most, kind, error), name, most, error)
    with _alone:
        return check_format(_parsed_elsewhere(path, error), name, error)


def _parsed_elsewhere(path: str, error: type[SequoiaError]) -> Any:
    # -I and -S skip installed packages, which the script does not need: it starts in 20 ms
    command = [sys.executable, "-I", "-S", str(_SCRIPT), path, str(MEMORY)]
    try:
        process = subprocess.run(
            command, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise error(f"reading the file took more than the {SECONDS:g} s allowed") from None
    except OSError:
        raise error(
            "the file could not be read: the server could not start a process; try again later"
        ) from None
    if process.returncode:
        reason = process.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise error(f"not a usable JSON file: {reason or 'the process that parsed it was stopped'}")
    return values_of(_pieces(memoryview(process.stdout)))


def _pieces(printed: memoryview) -> Iterator[tuple[str, Any]]:
    while printed:
        end = LENGTH_BYTES + int.from_bytes(printed[:LENGTH_BYTES])
        yield marshal.loads(printed[LENGTH_BYTES:end])
        printed = printed[end:]
