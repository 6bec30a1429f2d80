"""A port or host that cannot be used is reported in one sentence. Threads reserve little address
space. At the end, the server waits until every page has its last message."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ui.serving.process import PortRefused, require_port, wanted_port


def test_the_message_for_a_port_in_use_names_it_and_the_option() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortRefused, match=f"port {port} is in use.*--port"):
            require_port("127.0.0.1", port)
        with pytest.raises(PortRefused, match="in use"):
            require_port("0.0.0.0", port)
    require_port("127.0.0.1", port)


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(PortRefused, match=r"--host 192\.0\.2\.1 is not an address"):
        require_port("192.0.2.1", None)


@pytest.mark.parametrize("name", ["a..b", "x" * 70])
def test_an_invalid_host_name_is_refused(name: str) -> None:
    with pytest.raises(PortRefused, match="is not the name or address of a host"):
        require_port(name, None)


@pytest.mark.parametrize("text", ["x", "0", "65536", "-1", "8 0", "7" * 10_000, "٣", "000080000"])
def test_the_environment_variable_must_be_a_port(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("GRADIO_SERVER_PORT", text)
    with pytest.raises(PortRefused, match="not a port"):
        wanted_port(None)
    assert wanted_port(8000) == 8000


def test_without_an_option_the_environment_variable_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If the variable is not set either, the result is None: the first free port."""
    monkeypatch.delenv("GRADIO_SERVER_PORT", raising=False)
    assert wanted_port(None) is None
    monkeypatch.setenv("GRADIO_SERVER_PORT", "8001")
    assert wanted_port(None) == 8001


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
