"""Threads reserve little address space, so many visitors can be served even if a program's address
space is limited."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
THREADS = 150  # for many visitors at once
SCRIPT = f"""
import resource, threading
resource.setrlimit(resource.RLIMIT_AS, (700 * 2**20,) * 2)
from ui.serving.thread_memory import use_little_memory
use_little_memory()
end = threading.Event()
def work():
    bytearray(50_000)
    end.wait()
for _ in range({THREADS}):
    threading.Thread(target=work, daemon=True).start()
end.set()
print("all started")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's limit on address space")
def test_many_threads_fit_into_little_memory() -> None:
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert process.stdout.strip() == "all started", process.stderr[-300:]
