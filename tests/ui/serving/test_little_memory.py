"""With little address space the app survives hostile requests and files, and runs still end."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator

import httpx
import pytest
from damaged_files import large_files
from http_client import Client
from running_app import App

GIB = 2**30
MIB = 2**20


@pytest.fixture(params=[2, 3], ids="{} GiB".format)
def limited(request: pytest.FixtureRequest) -> Iterator[App]:
    app = App()
    resource.prlimit(app.process.pid, resource.RLIMIT_AS, (request.param * GIB,) * 2)
    app.answer(600)
    yield app
    assert "Traceback" not in app.stop()


def said(client: Client, name: str, **fields: object) -> str:
    """What the server says until the handler has ended."""
    assert client.join(name, **fields).status_code == 200
    return "".join(json.dumps(event) for event in client.events())


def sent_lists(client: Client) -> None:
    """Send requests of 32 MiB."""
    for fill in (b"[", b"[],", b'{"a":1},'):
        try:
            body = fill * (32 * MIB // len(fill))
            assert client.http.post("gradio_api/queue/join", content=body).status_code == 413
        except httpx.TransportError:
            pass  # the app closed the connection before the whole body was sent


def opened(client: Client, data: bytes) -> str:
    """Upload a run file and open it."""
    upload = client.http.post("gradio_api/upload", files={"files": ("file.json", data)})
    assert upload.status_code == 200
    file = {"path": upload.json()[0], "meta": {"_type": "gradio.FileData"}}
    return said(client, "decode_open", pg_open=file)


@pytest.mark.nightly
def test_a_hostile_visitor_does_not_end_an_app_with_little_memory(limited: App) -> None:
    client = Client(limited.url)
    client.http.timeout = 300
    assert '\\"done\\":true' in said(client, "decode_run", pg_max_new_tokens=16)
    sent_lists(client)
    for file in large_files(31):
        assert "Not opened" in opened(client, file.data), file.how
    assert '\\"done\\":true' in said(client, "decode_run", pg_max_new_tokens=16)
    assert limited.process.poll() is None
