"""Single views: the pages in tests/browser/pages, with the modules as they are in the
repository, served by a plain file server."""

from __future__ import annotations

import json
import mimetypes
import threading
from collections.abc import Callable, Iterator
from functools import cache
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import plotly
import pytest
from playwright.sync_api import Page

from ui.shared import serve_modules

ROOT = Path(__file__).resolve().parents[2]
PLOTLY = "/ui/shared/web/plotly.min.js"
STYLES = "/styles.css"
FRAME = (
    "() => new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => "
    "requestAnimationFrame(f))))"
)
LOCAL = ("http://127.0.0.1", "data:", "blob:")
STILL = """() => { const sheet = new CSSStyleSheet();
    sheet.replaceSync("*, ::before, ::after { transition: none !important;" +
      " animation-duration: 0s !important; animation-delay: 0s !important; }");
    document.adoptedStyleSheets.push(sheet); }"""

AXE = ROOT / ".ci" / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not installed: npm --prefix .ci ci"
)
# axe-core's rules about colours, without those of level AAA, which are off by default
COLOUR_RULES: dict[str, Any] = {
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
}


class Files(SimpleHTTPRequestHandler):
    """The repository's files, Plotly's script and the style sheets. The browser may cache them
    and reuse its connections, because a page consists of a hundred small modules."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given, directory=str(ROOT))

    def translate_path(self, path: str) -> str:
        if path == PLOTLY:
            return str(Path(plotly.__file__).parent / "package_data" / "plotly.min.js")
        return super().translate_path(path)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def do_GET(self) -> None:
        if self.path != STYLES:
            return super().do_GET()
        text = serve_modules.css().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/css")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        return None

    def log_message(self, *_message: Any) -> None:
        """Say nothing."""


@cache
def address(name: str) -> str:
    """Start serving the page `name`. Returns its address."""
    mimetypes.add_type("text/javascript", ".js")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/tests/browser/pages/{name}.html"


def opened(tab: Page, name: str, height: int = 800) -> Iterator[Page]:
    """The page `name` of tests/browser/pages in `tab`, 1280 wide. Any console message
    and any request to another machine fails the test."""
    said: list[str] = []
    listeners: dict[Any, Callable[[Any], Any]] = {
        "console": lambda message: said.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: said.append(f"error: {error}"),
        "request": lambda request: (
            said.append(request.url) if not request.url.startswith(LOCAL) else None
        ),
    }
    for event, listener in listeners.items():
        tab.on(event, listener)
    tab.set_viewport_size({"width": 1280, "height": height})
    tab.mouse.move(0, 0)
    tab.goto(address(name))
    settle(tab)
    yield tab
    settle(tab)
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    tab.goto("about:blank")
    assert said == [], said


def settle(page: Page) -> None:
    """Wait for three frames, so that the page has drawn everything that is pending."""
    page.evaluate(FRAME)


def stop_transitions(page: Page) -> None:
    """From now on colours change at once, and animations jump to their end."""
    page.evaluate(STILL)


def part(name: str) -> str:
    """The selector of a part by its name."""
    return f'[data-part="{name}"]'


# -- runs for `window.stage`, the view in a page ---------------------------------------------------


def give(page: Any, message: dict[str, Any]) -> None:
    page.evaluate("text => stage.ingest(JSON.parse(text))", json.dumps(message))
    settle(page)


def batch(run: dict[str, Any], start: int, stop: int, **more: Any) -> dict[str, Any]:
    """Steps [start, stop) as a message of a run under way."""
    parts = ("lanes", "trees", "pieces")
    meta = {**run["meta"], "label": "measured"}
    head = {"meta": meta, **{name: run[name] for name in parts}}
    return {
        "v": 1,
        "run": run["run"],
        "from": start,
        **({} if start else head),
        "steps": run["steps"][start:stop],
        "step_lanes": run["step_lanes"][start:stop],
        "done": False,
        "error": None,
        "notice": None,
        **more,
    }


def watch(page: Any, run: dict[str, Any], step: int = 0) -> None:
    """A whole canned run, standing still at `step`."""
    page.evaluate(
        "([text, i]) => { stage.ingest(JSON.parse(text)); stage.seek(i); }", [json.dumps(run), step]
    )
    settle(page)


def trial(row: list[Any]) -> dict[str, Any]:
    """row: the values of a Trial without its token, which is 1 in `made`."""
    names = ("node", "p", "q", "u", "accepted", "mass")
    return {"token": 1, **dict(zip(names, row, strict=True))}


def one_lane(parents: list[int]) -> dict[str, Any]:
    """A lane with a fixed tree, as a message describes it."""
    plain = len(parents) == 1
    about = {"name": "Plain" if plain else "Sequoia", "kind": "plain" if plain else "best"}
    return {**about, "plain": plain, "most": len(parents), "changes": False}


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
        "index": 0,
        "prefix_len": 4,
        "tree": 0,
        "tokens": [1] * n,
        "draft_p": [None] + [0.5] * (n - 1),
        "target_p": [None] * n,
        "verdict": {"path": path, "bonus": 1, "trials": [trial(row) for row in trials or []]},
        "emitted": [1] * len(path),
        "text": [piece] * len(path),
        "seconds": {"draft": 0.001, "verify": 0.002, "overhead": 0.0005},
    }
    meta = {
        "label": "measured",
        "target": piece,
        "draft": piece,
        "prompt": piece,
        "device": piece,
        "params": {"temperature": 1},
    }
    return {
        "v": 1,
        "run": "made",
        "from": 0,
        "meta": meta,
        "lanes": [one_lane(parents)],
        "step_lanes": [0],
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


def all_hostile() -> dict[str, Any]:
    """A run of one step. Each node below the root is one of the texts of `HOSTILE`; the prompt and
    the names of the models are all these texts joined."""
    run = made([-1, *range(len(HOSTILE))], "".join(HOSTILE), path=[0, 1])
    run["steps"][0]["tokens"] = [1, *range(2, len(HOSTILE) + 2)]
    run["pieces"] |= {str(token): piece for token, piece in enumerate(HOSTILE, 2)}
    return run
