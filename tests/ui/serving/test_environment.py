"""The app starts and prints its address whatever variables the shell has set for other programs.
It believes the headers of a proxy only if it was started with the proxy's address."""

from __future__ import annotations

import time

import httpx
import pytest
from running_app import App

VARIABLES = {
    "ALL_PROXY": "socks5://127.0.0.1:9",
    "http_proxy": "http://[::1",
    "HTTPS_PROXY": "127.0.0.1:9",
    "NO_PROXY": "::1,fe80::/10,*.example.org",
    "GRADIO_DEBUG": "1",
}


@pytest.mark.slow
def test_the_app_starts_whatever_the_shell_has_set() -> None:
    app = App(**VARIABLES)
    app.answer()
    forged = {"origin": "http://evil.example", "x-forwarded-for": "203.0.113.7"}
    httpx.post(app.url, headers=forged, trust_env=False)
    time.sleep(0.5)  # the address is printed just after the server answers
    printed = app.stop()
    assert f"Sequoia is at {app.url}" in printed
    assert "from 127.0.0.1: 403" in printed, "headers of a proxy that is not trusted are ignored"
    assert "Traceback" not in printed
