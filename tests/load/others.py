"""Measures how long an ordinary visitor waits while hostile_requests.py attacks the app. The
visitor is a separate process. It calls a cheap handler, at most twenty times a second.

    python tests/load/others.py URL

Prints how many seconds each call takes, until standard input is closed.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

EVERY = 0.05
HANDLER = "decode_buttons_now"  # takes no input; returns the buttons' state


@contextmanager
def others(url: str) -> Iterator[list[float]]:
    """Measures the visitor's waits while the context lasts. Yields a list. It stays empty until the
    context ends, and then contains the waits in seconds."""
    process = subprocess.Popen(
        [sys.executable, __file__, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    waits: list[float] = []
    try:
        yield waits
    finally:
        printed, _ = process.communicate()
        waits += map(float, printed.split())


def main(url: str) -> None:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)
    connection.request("GET", "/config")
    handlers = json.loads(connection.getresponse().read())["dependencies"]
    number = next(one["id"] for one in handlers if one["api_name"] == HANDLER)
    body = json.dumps({"data": [], "fn_index": number, "session_hash": "others"})
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.wait(EVERY):
        start = time.monotonic()
        connection.request(
            "POST", "/gradio_api/run/predict", body, {"Content-Type": "application/json"}
        )
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        print(time.monotonic() - start)


if __name__ == "__main__":
    main(sys.argv[1])
