"""The test pages in ui/canvas, opened as files: no server, nothing on the console, no request beyond files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

CANVAS = Path(__file__).resolve().parents[2] / "ui" / "canvas"
FRAME = "() => new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(f))))"
LOCAL = ("file:", "data:", "blob:")


def opened(tab: Page, path: Path, query: str = "", height: int = 800) -> Iterator[Page]:
    """The page at `path` with `query` in `tab`, 1280 wide. Whatever the console says, and any request beyond files, fails the
    test."""
    said: list[str] = []
    hears: dict[Any, Callable[[Any], Any]] = {
        "console": lambda message: said.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: said.append(f"error: {error}"),
        "request": lambda request: said.append(request.url) if not request.url.startswith(LOCAL) else None}
    for name, hear in hears.items():
        tab.on(name, hear)
    tab.set_viewport_size({"width": 1280, "height": height})
    tab.mouse.move(0, 0)
    tab.goto(path.as_uri() + query)
    settle(tab)
    yield tab
    settle(tab)
    for name, hear in hears.items():
        tab.remove_listener(name, hear)
    tab.goto("about:blank")
    assert said == []


def settle(page: Page) -> None:
    """Let three frames pass: what was asked for is drawn."""
    page.evaluate(FRAME)


def part(name: str) -> str:
    """The selector of a part by its name."""
    return f'[data-part="{name}"]'
