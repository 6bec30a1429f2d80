"""The test pages in ui/canvas, opened as files: no server, nothing on the console, no
request beyond files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

CANVAS = Path(__file__).resolve().parents[2] / "ui" / "canvas"
FRAME = (
    "() => new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => "
    "requestAnimationFrame(f))))"
)
LOCAL = ("file:", "data:", "blob:")


def opened(tab: Page, path: Path, query: str = "", height: int = 800) -> Iterator[Page]:
    """The page at `path` with `query` in `tab`, 1280 wide. Whatever the console says, and any
    request beyond files, fails the test."""
    said: list[str] = []
    hears: dict[Any, Callable[[Any], Any]] = {
        "console": lambda message: said.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: said.append(f"error: {error}"),
        "request": lambda request: (
            said.append(request.url) if not request.url.startswith(LOCAL) else None
        ),
    }
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


# -- runs for the stage ----------------------------------------------------------------------------


def give(page: Any, message: dict[str, Any]) -> None:
    page.evaluate("text => stage.ingest(text)", json.dumps(message))
    settle(page)


def watch(page: Any, run: dict[str, Any], step: int = 0) -> None:
    """A whole canned run, standing still at `step`."""
    page.evaluate("([text, i]) => { stage.ingest(text); stage.seek(i); }", [json.dumps(run), step])
    settle(page)


def made(
    parents: list[int],
    piece: str = " x",
    trials: list[Any] | None = None,
    path: list[int] | None = None,
) -> dict[str, Any]:
    """A run of one hand-made step in which every token is `piece`."""
    n = len(parents)
    path = path or [0]
    step = {
        "i": 0,
        "at": 4,
        "tree": 0,
        "tokens": [1] * n,
        "q": [None] + [0.5] * (n - 1),
        "p": [None] * n,
        "trials": trials or [],
        "path": path,
        "bonus": 1,
        "emitted": [1] * len(path),
        "text": [piece] * len(path),
        "seconds": {"draft": 0.001, "verify": 0.002, "overhead": 0.0005},
        "finish": None,
    }
    meta = {
        "label": "measured",
        "target": piece,
        "draft": piece,
        "prompt": piece,
        "device": piece,
        "policy": {"temperature": 1},
    }
    return {
        "v": 1,
        "run": "made",
        "from": 0,
        "meta": meta,
        "trees": [parents],
        "pieces": {"1": piece},
        "steps": [step],
        "done": False,
        "error": None,
        "notice": None,
    }


HOSTILE = [
    "<img src=x onerror=window.pwned=1>",
    "${window.pwned=1}",
    "{{7*7}}",
    "</script><script>window.pwned=1</script>",
    "\u202eabc\u202c",
    "\u200b",
    "\n",
    "\t",
    "\x07",
    " ",
    "",
    "\ud800",
    "\ufffe",
    "a\u0301\u0301",
    "\u0301",
    "\U0001f469\u200d\U0001f680",
]
