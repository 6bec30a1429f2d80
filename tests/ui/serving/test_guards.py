"""The server's guards (see ui/serving/guards.py), tested without Gradio."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ui.serving import guards
from ui.serving.guards import Address, Doors, all_guards, trusted_proxies
from ui.serving.limits import LOCAL, MIB, Limits

SMALL = replace(
    LOCAL, request=1000, upload=2 * MIB, uploads_each=5 * MIB, uploads=8 * MIB, upload_seconds=100
)


OWN = "http://127.0.0.1:7860"


async def echo(request: Request) -> PlainTextResponse:
    if request.url.path == "/broken":
        raise KeyError("my prompt")
    return PlainTextResponse(str(len(await request.body())))


def serve(
    *names: str,
    proxies: tuple[str, ...] = (),
    limits: Limits = SMALL,
    client: str = "192.0.2.7",
) -> TestClient:
    """The guards in front of an app that answers with the size of the body, behind uvicorn's
    middleware. names, proxies: those of --allow-host and --trusted-proxy."""
    routes = [Route("/{path:path}", echo, methods=["GET", "POST"])]
    address = Address(names, bool(proxies))
    app: Any = Starlette(routes=routes, middleware=all_guards(limits, address))
    behind: Any = ProxyHeadersMiddleware(app, trusted_proxies(proxies))
    return TestClient(behind, base_url=OWN, client=(client, 1), raise_server_exceptions=False)


# -- host ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("127.0.0.1:7860", "[::1]:7860", "LocalHost:7860", "desk.local", "me-sequoia.hf.space"),
        "DEMO.example.org:443",
    ],
)
def test_own_names_and_all_ip_addresses_are_served(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guards.socket, "gethostname", lambda: "Desk")
    monkeypatch.setenv("SPACE_HOST", "me-sequoia.hf.space")
    assert serve("demo.example.org").get("/", headers={"host": name}).status_code == 200


@pytest.mark.parametrize(
    "name",
    [
        *("evil.example:7860", "127.0.0.1.evil.example", "demo.example.org.evil.example"),
        *("", "[::1"),
        "<script>alert(1)</script>",
    ],
)
def test_other_names_are_refused_and_the_message_names_allow_host(name: str) -> None:
    answer = serve("demo.example.org").get("/", headers={"host": name})
    assert answer.status_code == 403
    assert "--allow-host" in answer.json()["detail"]
    assert "<" not in answer.json()["detail"]


def test_two_host_headers_are_refused() -> None:
    headers = [("host", "127.0.0.1"), ("host", "evil.example")]
    scope = {"type": "http", "path": "/", "method": "GET", "client": ("192.0.2.7", 1)}
    scope["headers"] = [(name.encode(), value.encode()) for name, value in headers]
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def never(*_: Any) -> Any:
        raise AssertionError

    asyncio.run(Doors(never, Address())(scope, never, send))
    assert sent[0]["status"] == 403


def test_the_share_address_is_served_once_it_is_known() -> None:
    address = Address()
    app = Starlette(
        routes=[Route("/", echo, methods=["POST"])], middleware=all_guards(SMALL, address)
    )
    client = TestClient(app, base_url=OWN)
    headers = {"host": "abc.gradio.live", "origin": "https://abc.gradio.live"}
    assert client.post("/", headers=headers).status_code == 403
    address.names.add("abc.gradio.live")
    assert client.post("/", headers=headers).status_code == 200


# -- other sites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:7861",  # another port
        "http://127.0.0.1:7860@evil.example",
        "",
        "http://[",
    ],
)
def test_other_origins_are_refused(origin: str) -> None:
    for send in (serve().post, serve().get):
        assert send("/any", headers={"origin": origin}).status_code == 403


def test_our_own_page_and_programs_are_served() -> None:
    """Programs send no Origin header. A proxy may replace the Host header by its own."""
    client = serve()
    behind_a_proxy = {"origin": "https://demo.example.org", "sec-fetch-site": "same-origin"}
    for headers in ({"origin": OWN}, {}, {"sec-fetch-site": "same-origin"}, behind_a_proxy):
        assert client.post("/", headers=headers).status_code == 200


@pytest.mark.parametrize("origin", [{}, {"origin": OWN}])
def test_posts_from_other_sites_are_refused_even_without_an_origin_header(
    origin: dict[str, str],
) -> None:
    """Our own address with another scheme is another site, too."""
    elsewhere = {"sec-fetch-site": "cross-site", **origin}
    assert serve().post("/", headers=elsewhere).status_code == 403
    assert serve().get("/", headers=elsewhere).status_code == 200, "a link from another site works"


# -- behind a proxy --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        (["forged.example, demo.example.org"], 200),
        (["forged.example", "demo.example.org"], 200),
        (["demo.example.org, evil.example"], 403),
    ],
)
def test_the_name_that_a_proxy_reports_last_must_be_ours(hosts: list[str], status: int) -> None:
    """A proxy adds its own entry or line after the client's, which may be forged."""
    client = serve("demo.example.org", proxies=("10.0.0.2",), client="10.0.0.2")
    page = {"host": "127.0.0.1:7860", "origin": f"https://{hosts[-1].rpartition(' ')[2]}"}
    lines = [*page.items(), *(("x-forwarded-host", host) for host in hosts)]
    assert client.post("/", headers=lines).status_code == status
    rebound = {"host": "evil.example", "x-forwarded-host": "demo.example.org"}
    assert client.get("/", headers=rebound).status_code == 403


def test_a_space_trusts_its_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hugging Face sets SPACE_HOST in a Space, where the app runs behind their proxy."""
    monkeypatch.setenv("SPACE_HOST", "me-sequoia.hf.space")
    headers = {"host": "me-sequoia.hf.space", "origin": "https://me-sequoia.hf.space"}
    answer = serve(client="10.16.3.4").post("/", headers=headers)
    assert answer.status_code == 200
    assert "https://huggingface.co" in answer.headers["Content-Security-Policy"]


# -- headers of answers ----------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{}, {"origin": "null"}])
def test_every_answer_limits_what_the_page_may_load_and_send(headers: dict[str, str]) -> None:
    answer = serve().post("/", headers=headers)
    rules = dict(
        rule.split(" ", 1) for rule in answer.headers["Content-Security-Policy"].split("; ")
    )
    assert rules["default-src"] == rules["connect-src"] == rules["base-uri"] == "'self'"
    assert rules["object-src"] == "'none'"
    assert rules["frame-ancestors"] == "'self'"
    assert answer.headers["x-content-type-options"] == "nosniff"


# -- other addresses -------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["http://", "HTTPS:/", "ftp%3A%2F%2F"])
def test_the_server_fetches_no_web_address(start: str) -> None:
    path = f"/gradio_api/file={start}example.org/x"
    assert serve().get(path).status_code == 403


# -- sizes -----------------------------------------------------------------------------------------


def pieces(size: int, piece: int = 1000) -> Iterator[bytes]:
    """A body whose size the request does not declare."""
    for start in range(0, size, piece):
        yield b"x" * min(piece, size - start)


def test_requests_are_limited_even_if_they_declare_no_size() -> None:
    client = serve()
    assert client.post("/run", content=b"x" * 1000).text == "1000"
    assert client.post("/run", content=pieces(1000)).text == "1000"
    assert client.post("/run", content=b"x" * 1001).status_code == 413
    assert client.post("/run", content=pieces(1001)).status_code == 413


@pytest.mark.parametrize("piece", ["[],", '{"a":1},', "[[[[", "1,"])
def test_requests_with_too_many_values_or_lists_are_refused(piece: str) -> None:
    limits = replace(SMALL, request=4 * MIB)
    body = piece * (4 * MIB // len(piece))
    assert serve(limits=limits).post("/run", content=body).status_code == 413
    assert serve(limits=limits).post("/run", content=body[:10_000]).status_code == 200


def test_an_upload_is_limited_even_if_it_declares_no_size() -> None:
    client = serve()
    assert client.post("/upload", content=b"x" * 2 * MIB).status_code == 200
    assert client.post("/upload", content=b"x" * 3 * MIB).status_code != 200
    assert client.post("/upload", content=pieces(3 * MIB, MIB)).status_code != 200


def test_uploads_are_limited_per_address_and_in_total(monkeypatch: pytest.MonkeyPatch) -> None:
    """In `upload_seconds`, at most `uploads_each` bytes per address and `uploads` in total. What is
    refused does not count."""
    now = [0.0]
    monkeypatch.setattr(guards.time, "monotonic", lambda: now[0])
    uploads = guards.RecentUploads(SMALL)
    assert uploads.add("a", 5 * MIB) == ""
    for size in (1, MIB):
        assert "your address" in uploads.add("a", size)
    assert uploads.add("b", 3 * MIB) == ""
    assert "all visitors together" in uploads.add("c", 1)
    now[0] = 101
    assert uploads.add("a", 5 * MIB) == uploads.add("c", 3 * MIB) == ""


@pytest.mark.parametrize(
    ("space", "peer", "senders", "is_refused"),
    [
        ("", "192.0.2.7", ["1.1.1.1", "2.2.2.2", "3.3.3.3"], True),
        ("", "10.0.0.2", ["1.1.1.1, 9.9.9.9", "9.9.9.9", "3.3.3.3, 9.9.9.9"], True),
        ("", "10.0.0.2", ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2::3"], True),
        ("", "10.0.0.2", ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:3::1"], False),
        ("me.hf.space", "10.16.3.4", ["1.1.1.1, 9.9.9.9", "9.9.9.9", "3.3.3.3, 9.9.9.9"], True),
    ],
    ids=["forged", "forged behind a proxy", "a household", "two households", "a Space"],
)
def test_a_forged_address_does_not_evade_the_upload_limit(
    space: str,
    peer: str,
    senders: list[str],
    is_refused: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of an address reported by a trusted proxy, the last entry counts. All IPv6 addresses of a
    household count as one. Two uploads of 2 MiB are allowed."""
    monkeypatch.setenv("SPACE_HOST", space)
    client = serve(proxies=("10.0.0.2",), client=peer)
    found = [
        client.post("/upload", content=b"x" * 2 * MIB, headers={"x-forwarded-for": sender})
        for sender in senders
    ]
    assert [answer.status_code == 200 for answer in found] == [True, True, not is_refused]


def test_each_tiny_file_counts_as_a_disk_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards against uploads of so many tiny files that the disk runs out of inodes."""
    part = b'Content-Disposition: form-data; name="files"; FileName="a"\r\n\r\n1\r\n'
    client = serve(limits=replace(SMALL, uploads_each=100 * guards.BLOCK))
    body = part * 60
    halves = (body[at : at + 5] for at in range(0, len(body), 5))
    assert client.post("/upload", content=halves).status_code == 200
    assert client.post("/upload", content=body).status_code != 200


# -- the log ---------------------------------------------------------------------------------------


def test_a_refused_request_is_one_line_in_the_log_without_its_body(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refused(path: str = "/run%0Afake line?secret=1", **request: Any) -> str:
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="ui"):
            assert serve().post(path, **request).status_code >= 400
        (record,) = caplog.records
        return record.getMessage()

    for line in (
        refused("/run fake line?secret=1", content="my prompt " * 200),
        refused(headers={"origin": "http://evil.example/secret"}),
        refused(headers={"host": "evil.example"}),
    ):
        assert "\n" not in line
        assert "secret" not in line
        assert "prompt" not in line
        assert line.startswith("POST /run fake line from 192.0.2.7: 4")


def test_an_unexpected_error_is_logged_as_one_line_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = serve().get("/broken")
    assert answer.status_code == 500
    assert answer.json() == {"detail": "an unexpected error; see the server's log"}
    (record,) = [record for record in caplog.records if record.name.startswith("ui")]
    assert "500, KeyError in test_guards.py" in record.getMessage()
    assert "prompt" not in record.getMessage()
    assert record.exc_info is None
