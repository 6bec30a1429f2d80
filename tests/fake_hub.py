"""A fake Hugging Face hub on this machine. It serves folders as models, answers like the real hub,
and can simulate faults.

It answers what `huggingface_hub` requests for a download: the list of files, the headers of a file
(HEAD), and a file, either whole or from a given byte on.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "c" * 40
_CHUNK = 1 << 16


@dataclass
class FakeHub:
    """The models of the hub, and how it behaves.

    gated: model -> HTTP status with which its files are refused, 401 or 403. slow: seconds of pause
    after each 64 KiB of a file.
    asked: paths of GET requests, with the range of bytes if one was given.
    """

    models: dict[str, Path] = field(default_factory=dict)
    gated: dict[str, int] = field(default_factory=dict)
    slow: float = 0.0
    asked: list[str] = field(default_factory=list)
    url: str = ""

    @property
    def files_asked(self) -> list[str]:
        return [path for path in self.asked if "/resolve/" in path]


class _Handler(BaseHTTPRequestHandler):
    hub: FakeHub

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._file(body=False)

    def do_GET(self) -> None:
        where = self.headers.get("Range")
        self.hub.asked.append(self.path.split("?")[0] + (f" {where}" if where else ""))
        if self.path.startswith("/api/models/"):
            self._listing()
        else:
            self._file(body=True)

    def _listing(self) -> None:
        path = self.path.split("?")[0].removeprefix("/api/models/")
        name, is_tree, _ = path.partition("/tree/")
        name = name.partition("/revision/")[0]
        folder = self.hub.models.get(name)
        if folder is None:
            return self._refuse(401, "RepoNotFound")
        files = [path for path in folder.rglob("*") if path.is_file()]
        sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
        about: Any = [
            {"type": "file", "oid": "b" * 40, "path": path, "size": size}
            for path, size in sizes.items()
        ]
        if not is_tree:
            siblings = [{"rfilename": path, "size": size} for path, size in sizes.items()]
            gated = name in self.hub.gated
            about = {"id": name, "sha": COMMIT, "gated": gated, "siblings": siblings}
        body = json.dumps(about).encode()
        self._head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        self.wfile.write(body)

    def _file(self, body: bool) -> None:
        name, _, file = self.path.split("?")[0].lstrip("/").partition("/resolve/")
        commit, _, file = file.partition("/")
        if name in self.hub.gated:
            return self._refuse(self.hub.gated[name], "GatedRepo")
        path = self.hub.models.get(name, Path("/nowhere")) / file
        if not path.is_file():
            return self._refuse(404, "EntryNotFound")
        data = path.read_bytes()
        start = (
            int(self.headers["Range"].removeprefix("bytes=").split("-")[0])
            if self.headers.get("Range")
            else 0
        )
        span = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"} if start else {}
        self._head(
            206 if start else 200,
            {
                "ETag": f'"{hashlib.sha256(data).hexdigest()}"',
                "X-Repo-Commit": commit,
                "Content-Length": str(len(data) - start),
                "Accept-Ranges": "bytes",
                **span,
            },
        )
        if body:
            self._send(data, start)

    def _send(self, data: bytes, start: int) -> None:
        with suppress(ConnectionError):  # the client was stopped
            for at in range(start, len(data), _CHUNK):
                self.wfile.write(data[at : at + _CHUNK])
                self.wfile.flush()
                time.sleep(self.hub.slow)
        self.close_connection = True

    def _refuse(self, status: int, code: str) -> None:
        self._head(status, {"X-Error-Code": code, "X-Error-Message": code, "Content-Length": "0"})

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def served() -> Iterator[FakeHub]:
    """A hub at `url`, for as long as the context lasts."""
    hub = FakeHub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
