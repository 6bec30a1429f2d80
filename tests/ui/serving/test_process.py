"""A port or host that cannot be used is reported in one sentence. Threads reserve little address
space."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ui.serving.process import PortRefused, require_port


@pytest.mark.parametrize("host", ["192.0.2.1", "a..b", "x" * 70])
def test_a_host_that_is_not_this_machine_is_refused(host: str) -> None:
    with pytest.raises(PortRefused, match=f"cannot listen on {host}.*--host"):
        require_port(host, None)


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0", "[::1]", "::"])
def test_a_host_of_this_machine_is_accepted(host: str) -> None:
    require_port(host, None)


ROOT = Path(__file__).resolve().parents[3]
THREADS = 150  # for many visitors at once
SCRIPT = f"""
import resource, threading
resource.setrlimit(resource.RLIMIT_AS, (700 * 2**20,) * 2)
from ui.serving.process import use_little_memory
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
