"""With little address space the app survives hostile requests and files, and pages still open."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from damaged_files import large_files
from measured_app import MeasuredApp
from page_visitor import API, PageVisitor

GIB = 2**30
MIB = 2**20
PAGES = 20  # opened at once


@pytest.fixture(params=[2, 3], ids="{} GiB".format)
def limited(request: pytest.FixtureRequest) -> Iterator[MeasuredApp]:
    app = MeasuredApp()
    resource.prlimit(app.process.pid, resource.RLIMIT_AS, (request.param * GIB,) * 2)
    app.answer(600)
    app.await_models()
    yield app
    app.stop()


async def attack(http: httpx.AsyncClient, folder: Path) -> list[str]:
    """Sends requests of 32 MiB and opens files almost as large. Returns what the page says about
    the files."""
    for fill in (b"[", b"[],", b'{"a":1},'):
        try:
            body = fill * (32 * MIB // len(fill))
            assert (await http.post(f"{API}queue/join", content=body)).status_code == 413
        except httpx.TransportError:
            pass  # the app closed the connection before the whole body was sent
    config = (await http.get("config")).json()
    found: list[str] = []
    for file in [*large_files(31)][:5]:
        path = folder / "file.json"
        path.write_bytes(file.data)
        page = PageVisitor(http, config)
        (call, *_) = await page.upload("pg-open", path)
        found.append(str(call.stage[-1][1].get("error")) if call.stage else call.words)
        await page.leave()
    return found


async def visit(http: httpx.AsyncClient) -> bool:
    """Open a page and press Run. Returns whether the page opened, the run ended (perhaps with
    an error or a notice), and the button is enabled again."""
    page = PageVisitor(http, (await http.get("config")).json())
    status, _, calls = await page.open()
    page.set("pg-tokens", 16)
    pressed = await page.press("pg-run")
    back = page.prop("pg-run", "interactive")
    await page.leave()
    (run,) = (call for call in pressed if call.name == "decode_run")
    last = run.stage[-1][1]
    ended = bool(last.get("done") or last.get("error") or last.get("notice"))
    return status == 200 and ended and back and all(call.ended for call in calls)


@pytest.mark.nightly
def test_a_hostile_visitor_does_not_end_an_app_with_little_memory(
    limited: MeasuredApp, tmp_path: Path
) -> None:
    async def all_of_it() -> tuple[list[str], list[bool]]:
        async with httpx.AsyncClient(base_url=limited.url, timeout=120, trust_env=False) as http:
            assert await visit(http)
            said = await attack(http, tmp_path)
            return said, await asyncio.gather(*(visit(http) for _ in range(PAGES)))

    said, visits = asyncio.run(all_of_it())
    assert all("Not opened" in words or "uploaded" in words for words in said), said
    assert all(visits)
    assert limited.process.poll() is None
    assert not [line for line in limited.lines if "Traceback" in line]
