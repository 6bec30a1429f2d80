"""What the running app sends for its page: how much, and to which requests. Needs no browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from running_app import App

MOST = 70_000  # bytes


@pytest.fixture(scope="module")
def client(app: App) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=app.url, trust_env=False, timeout=30) as client:
        yield client


def sent(client: httpx.Client, path: str = "", **headers: str) -> tuple[bytes, httpx.Headers]:
    """The bytes on the wire and the headers of an answer."""
    with client.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200
        return b"".join(answer.iter_raw()), answer.headers


def test_the_page_is_small_and_sent_once(client: httpx.Client) -> None:
    zipped, headers = sent(client, **{"accept-encoding": "gzip"})
    whole, _ = sent(client, **{"accept-encoding": "identity"})
    print(f"\n{len(whole):,} bytes of HTML, {len(zipped):,} with gzip")
    assert len(zipped) <= MOST
    assert headers["content-encoding"] == "gzip"
    again = client.get("", headers={"if-none-match": headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_style_sheets_and_the_first_script_are_files_beside_the_page(client: httpx.Client) -> None:
    html = client.get("").text
    assert ".sq-stage {" not in html
    scripts = re.findall(r'<script type="module"[^>]* src="([^"]+)"', html)
    assert [script.rpartition("/")[2][:5] for script in scripts] == ["first", "index"]
    styles = re.findall(r'<link rel="stylesheet"[^>]* href="([^"]+)"', html)
    assert styles[-1].endswith("/page.css")
    for path in (scripts[0], styles[-1]):
        data, headers = sent(client, path, **{"accept-encoding": "gzip"})
        print(f"{len(data):,} bytes of {path.rpartition('/')[2]}")
        assert headers["content-encoding"] == "gzip"
        assert "immutable" in headers["cache-control"]


def test_requests_of_other_origins_leave_no_trace(client: httpx.Client) -> None:
    before = client.get("").headers
    for _ in range(3):
        client.get("", headers={"origin": str(client.base_url).rstrip("/")})
    after = client.get("").headers
    assert after.get("vary") == before.get("vary")
    assert "access-control-allow-origin" not in after
