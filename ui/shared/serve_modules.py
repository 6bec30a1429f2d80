"""Serves the page's modules, Plotly's script, the styles, and the templates of pages that are saved
as HTML files, all under one path. Also makes the JavaScript with which Gradio's components and
events call the modules.

The path contains a hash of all scripts, the styles and Plotly's version, so that a browser with an
old copy in its cache never mixes two versions.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import plotly
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ui.shared import markup
from ui.shared.join_modules import FIRST, css, join, modules, name_of, saved_pages
from ui.shared.saved_pages import template

PATH = "/sequoia-web"
_PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
_KEEP = {"Cache-Control": "private, max-age=31536000, immutable"}


@dataclass(frozen=True)
class Text:
    """A text to serve. text: in UTF-8. zipped: the same bytes, gzipped."""

    text: bytes
    zipped: bytes
    media_type: str


@dataclass(frozen=True)
class Joined(Text):
    """The joined modules. version: a hash that changes with any script or style sheet, and with
    Plotly's version."""

    version: str


@cache
def joined() -> Joined:
    """The page's modules joined into one, built at the first call."""
    modules_text = _script(join(modules()))
    others = join([FIRST]) + css() + plotly.__version__
    version = hashlib.sha256(modules_text.text + others.encode()).hexdigest()[:16]
    return Joined(modules_text.text, modules_text.zipped, modules_text.media_type, version)


@cache
def texts() -> dict[str, Text]:
    """The first script, the style sheet, and the templates of saved pages as plain text, by the
    name under which they are served."""
    templates = {
        f"saved-{view}.txt": _zipped(template(view), "text/plain") for view in saved_pages()
    }
    return {**templates, "first.js": _script(join([FIRST])), "page.css": _zipped(css(), "text/css")}


def in_head() -> dict[str, str]:
    """What the page's head needs, as HTML: `first`, the script that runs before Gradio's, and
    `styles`. The address is relative because the page may be served from a path other than "/"."""
    folder = f".{PATH}/{joined().version}"
    return {
        "first": f'<script type="module" src="{folder}/first.js"></script>',
        "styles": f'<link rel="stylesheet" href="{folder}/page.css">',
    }


def _script(source: str) -> Text:
    return _zipped(source, "text/javascript")


def _zipped(source: str, media_type: str) -> Text:
    text = source.encode()
    return Text(text, gzip.compress(text, 6), media_type)


def route() -> Route:
    """The route that serves all these files."""
    return Route(PATH + "/{version}/{name}", _serve, methods=["GET"])


async def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    if request.path_params["version"] != joined().version:
        raise HTTPException(404, "The page has changed. Reload it.")
    if name == "plotly.min.js":
        return FileResponse(_PLOTLY, media_type="text/javascript", headers=_KEEP)
    found = joined() if name == "modules.js" else texts().get(name)
    if found is None:
        raise HTTPException(404, "No such file.")
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(found.text, media_type=found.media_type, headers=_KEEP)
    headers = {**_KEEP, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(found.zipped, media_type=found.media_type, headers=headers)


# -- calls of the modules --------------------------------------------------------------------------


@cache
def _names() -> frozenset[str]:
    return frozenset(map(name_of, modules()))


def _module(name: str) -> str:
    """A JavaScript expression: the promise of a module's exports. The path comes from Gradio's
    config, because the page may be served from a path other than "/". Host and scheme come from the
    page's own address, because Gradio may not know them behind a proxy."""
    if name not in _names():
        raise ValueError(f"no module is called {name}; known: {', '.join(sorted(_names()))}")
    below = 'new URL(window.gradio_config.root || "/", location.href).pathname.replace(/\\/$/, "")'
    address = f'location.origin + {below} + "{PATH}/{joined().version}/modules.js"'
    return f"import({address}).then((all) => all.modules[{markup.literal(name)}])"


def call(module: str, code: str, parameters: str = "") -> str:
    """JavaScript for the `js` of a Gradio event: a function of `parameters` that returns the value
    of the expression `code`. In this expression, `web` is the exports of `module`."""
    return f"async ({parameters}) => {_module(module)}.then((web) => {code})"


def connect(module: str, events: Iterable[str] = (), server: bool = False) -> str:
    """JavaScript for the `js_on_load` of a gr.HTML component: calls `connect(element, props, watch,
    trigger, server)` of `module`. Gradio only offers events whose quoted names it finds in this
    code, so the code lists the `events` that the module may trigger. server: whether the component
    has server functions that the module may call."""
    names = markup.literal(list(events))
    failed = "This part of the page could not be started. Reload the page."
    return (
        f"const events = {names};"
        "const send = (name, data) => events.includes(name) && trigger(name, data);"
        f"{_module(module)}"
        f".then((web) => web.connect(element, props, watch, send, {'server' if server else '{}'}))"
        f".catch((problem) => {{ console.error(problem); "
        f"element.textContent = {markup.literal(failed)}; }});"
    )
