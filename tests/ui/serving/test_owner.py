"""Who counts as the owner of a server, and what others may do."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send
from visits import request

from ui.serving.owner import NotOwner, Owner, OwnerLink

HERE = {"host": "127.0.0.1:7860"}


def cookie_of(owner: Owner) -> dict[str, str]:
    """The header that the owner's browser sends after it has opened the owner's link."""
    (cookie,) = answered(owner, owner.link("").lstrip("?")).getlist("set-cookie")
    return {"cookie": f"other=1; {cookie.partition(';')[0]}"}


def asked(**headers: str) -> Any:
    return request(headers={**HERE, **{name.replace("_", "-"): headers[name] for name in headers}})


def test_everyone_who_reaches_a_local_server_is_its_owner() -> None:
    owner = Owner()
    for host in ("127.0.0.1:7860", "localhost", "[::1]:7860", "LOCALHOST:7860", "127.0.0.2"):
        for client in ("127.0.0.1", "::1", "127.3.4.5"):
            owner.require(request(client=client, headers={"host": host}), "measure")


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-for": "127.0.0.1"},
        {"forwarded": "for=127.0.0.1"},
        {"via": "1.1 proxy"},
        {"host": "demo.example.org"},
        {"host": ""},
        {"host": "127.0.0.1.example.org"},
        {"cookie": "sequoia-owner=; sequoia-owner-00000000=guess"},
    ],
    ids=str,
)
def test_a_visitor_behind_a_proxy_is_not_the_owner(headers: dict[str, str]) -> None:
    """The headers may be forged. They can only take rights away."""
    lines = {name.lower(): value for name, value in headers.items()}
    visitor = request(headers={**HERE, **lines})
    owner = Owner()
    is_local = set(lines) == {"cookie"}
    assert owner.may(visitor, "load") is is_local
    assert not Owner(is_alone=False).may(visitor, "load")
    with_link = request(headers={**HERE, **lines, **cookie_of(owner)})
    assert owner.may(with_link, "load")


@pytest.mark.parametrize("client", ["192.168.1.9", "fe80::1", ""])
def test_a_visitor_of_the_network_is_not_the_owner(client: str) -> None:
    assert not Owner().may(request(client=client, headers=HERE), "load")


def test_on_an_open_server_only_the_link_makes_an_owner() -> None:
    owner = Owner(is_alone=False)
    with pytest.raises(NotOwner, match="owner's link"):
        owner.require(asked(), "load")
    owner.require(asked(**cookie_of(owner)), "load")
    assert not owner.may(asked(**cookie_of(Owner())), "load")


def test_only_the_link_leads_to_the_front_of_the_queue() -> None:
    owner = Owner(allowed={"measure", "load"})
    assert owner.used_link(asked(**cookie_of(owner)))
    assert not owner.used_link(asked())


def test_visitors_may_do_what_the_owner_allows() -> None:
    owner = Owner(is_alone=False, allowed={"measure"})
    owner.require(asked(), "measure")
    with pytest.raises(NotOwner, match="change the models"):
        owner.require(asked(), "load")


def answered(owner: Owner, query: str, scheme: str = "http", path: str = "/") -> Headers:
    """The headers of the answer to a request for `path`; empty if it was passed on."""
    sent: list[Message] = []

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"headers": []})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError

    scope = {"type": "http", "method": "GET", "path": path, "scheme": scheme, "headers": []}
    scope["query_string"] = query.encode()
    asyncio.run(OwnerLink(app, owner)(scope, receive, send))
    return Headers(raw=sent[0]["headers"])


def test_the_link_leads_to_the_page_without_the_token() -> None:
    owner = Owner()
    query = owner.link("http://here/").partition("?")[2]
    headers = answered(owner, f"run=abc&{query}")
    assert headers["location"] == "./?run=abc"
    assert f"={owner.token};" in headers["set-cookie"]
    assert "HttpOnly" in headers["set-cookie"]
    assert "Secure" not in headers["set-cookie"]
    assert "Secure" in answered(owner, query, "https")["set-cookie"]
    for wrong in ("", "owner=", "owner=guess", "owner=%ff", f"other={owner.token}"):
        assert not answered(owner, wrong)
    assert not answered(owner, query, path="/config")
