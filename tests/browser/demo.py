"""The test pages in ui/canvas, opened as files: no server, nothing on the console, no request beyond files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

CANVAS = Path(__file__).resolve().parents[2] / "ui" / "canvas"
FRAME = "() => new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(f))))"
LOCAL = ("file:", "data:", "blob:")


def opened(browser: Browser, path: Path, query: str = "", **options: Any) -> Iterator[Page]:
    """The page at `path` with `query`, 1280 x 800 unless `options` of the browser's context say otherwise. Whatever the console
    says, and any request beyond files, fails the test."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("request", lambda request: said.append(request.url) if not request.url.startswith(LOCAL) else None)
    page.goto(path.as_uri() + query)
    settle(page)
    yield page
    settle(page)
    context.close()
    assert said == []


def settle(page: Page) -> None:
    """Let three frames pass: what was asked for is drawn."""
    page.evaluate(FRAME)


def part(name: str) -> str:
    """The selector of a part by its name."""
    return f'[data-part="{name}"]'
