"""How the app ends: after a signal, or by itself if it cannot start. Guards against a core dump, a
temporary folder that is not removed, open pages that get no last message, and a process that does
not end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from http_client import Client
from running_app import ROOT, App

STOPPED = "The server was stopped."


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., App]]:
    """A function that starts an app. The app creates its temporary folder in `tmp_path`."""
    started: list[App] = []

    def begin() -> App:
        started.append(App(TMPDIR=str(tmp_path)))
        return started[-1]

    yield begin
    for app in started:
        app.process.kill()
        app.stop()


def running(url: str) -> Iterator[dict[str, Any]]:
    """Start a long run and wait for the first message about its steps. Returns the later events."""
    client = Client(url)
    assert client.join("run_run", pg_max_new_tokens=4096, pg_prompt="0 0 0 0").status_code == 200
    events = client.events()
    while '"steps"' not in json.dumps(next(events)).replace("\\", ""):
        pass
    return events


def left_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith("sequoia-")]


def test_a_second_signal_ends_it_at_once() -> None:
    script = (
        "import time; from ui.serving.process import Shutdown; ending = Shutdown(print); "
        "print('ready', flush=True); ending.wait_and_end(lambda: time.sleep(60))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        time.sleep(0.5)  # until the process waits for a signal
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_a_signal_before_the_page_is_served(start: Callable[..., App], tmp_path: Path) -> None:
    app = start()
    while not left_in(tmp_path):
        assert app.process.poll() is None
        time.sleep(0.01)
    time.sleep(0.2)
    app.process.send_signal(signal.SIGINT)
    assert app.process.wait(30) == 0
    assert left_in(tmp_path) == []
    assert "Traceback" not in app.stop()


def test_ctrl_c_during_a_run_ends_it_in_order(start: Callable[..., App], tmp_path: Path) -> None:
    """The page gets the last message, and the app ends without an error."""
    app = start()
    app.answer()
    events = running(app.url)
    app.process.send_signal(signal.SIGINT)
    last = [event for event in events if event["msg"].startswith("process")]
    assert STOPPED in json.dumps(last)
    assert app.process.wait(30) == 0
    assert left_in(tmp_path) == []
    printed = app.stop()
    assert "Traceback" not in printed
    assert "terminate" not in printed


def refused(*flags: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run an app that must end by itself. Python lists the imported modules on its stderr."""
    return subprocess.run(
        [sys.executable, "-X", "importtime", "app.py", *flags],
        cwd=ROOT,
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        timeout=30,
    )


def sentences(process: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines that `process` printed on stderr, without the list of imports. Fails if it imported
    modules of torch or Gradio, which are slow to import."""
    assert "torch" not in process.stderr
    assert not re.search(r"\| +gradio\b", process.stderr)
    return [line for line in process.stderr.splitlines() if not line.startswith("import time")]


def test_a_port_in_use_is_reported_in_one_line_before_the_slow_imports() -> None:
    """The app prints why it cannot start, and ends before it imports torch or Gradio."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        for process in (refused("--port", port), refused(GRADIO_SERVER_PORT=port)):
            assert process.returncode == 1
            (line,) = sentences(process)
            assert f"port {port} of 127.0.0.1: Address already in use" in line


def test_a_temporary_folder_that_cannot_be_made_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    process = refused(GRADIO_TEMP_DIR=str(tmp_path / "file" / "below"))
    assert process.returncode == 1
    (line,) = sentences(process)
    assert "cannot create a temporary folder" in line
