"""The running app and a real Chromium. If the browser is missing, the tests fail; they are not
skipped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from running_app import CHROMIUM, FLAGS, App, Visit

expect.set_options(timeout=20_000)  # a busy machine is no fault of the page


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # no test runs long enough for optimized code to pay off
        flags = [*FLAGS, "--js-flags=--no-opt"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tab(browser: Browser) -> Iterator[Page]:
    """The tab in which test pages are opened one after the other: opening a new tab takes longer
    than most tests."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


# what a shell may have set for other programs
VARIABLES = {
    "ALL_PROXY": "socks5://127.0.0.1:9",
    "http_proxy": "http://[::1",
    "HTTPS_PROXY": "127.0.0.1:9",
    "NO_PROXY": "::1,fe80::/10,*.example.org",
    "GRADIO_DEBUG": "1",
}


@pytest.fixture(scope="session")
def app() -> Iterator[App]:
    """The app, behind a proxy on this machine that is not always used, whatever the shell has
    set."""
    app = App("--visitors-may", "load", "--trusted-proxy", "127.0.0.1", **VARIABLES)
    app.answer()
    yield app
    printed = app.stop()
    for failure in ("Traceback", "a handler failed", ": 500, "):
        assert failure not in printed, printed


@pytest.fixture
def visit(browser: Browser, app: App) -> Iterator[Callable[..., Page]]:
    """Opens a page. At the end its console must be empty, and it must have requested nothing from
    other machines."""
    visits: list[Visit] = []

    def opened(query: str = "", **options: Any) -> Page:
        visits.append(Visit(browser, app.url + query, **options))
        return visits[-1].page

    yield opened
    for one in visits:
        one.check(app.url)


@pytest.fixture(scope="session")
def canned() -> dict[str, Any]:
    """Runs by name, as files have them. The tokens were drawn from toy distributions of words and
    verified by the real verifier; the times were invented."""
    return json.loads(Path(__file__).with_name("canned.json").read_text(encoding="utf-8"))
