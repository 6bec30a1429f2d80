"""Serves the page's modules, Plotly's script, and the scripts and styles of pages that are saved as
HTML files. All are served under one path, and only to visitors who may see the page.

The path contains a hash of all scripts, the styles and Plotly's version, so that a browser with an
old copy in its cache never mixes two versions.
"""

from __future__ import annotations

import gzip
import hashlib
import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import plotly
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ui.shared.join_modules import FIRST, join, modules, saved_pages
from ui.shared.style_sheets import css

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
    """The other scripts and the style sheet, by the name under which they are served. The script of
    a saved page contains a view's module `saved_page` and everything it imports."""
    scripts = {f"saved-{view}.js": _script(join([path])) for view, path in saved_pages().items()}
    return {**scripts, "first.js": _script(join([FIRST])), "page.css": _zipped(css(), "text/css")}


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
    """The route that serves all these files to visitors who may see the page."""
    return Route(PATH + "/{version}/{name}", _serve, methods=["GET"])


async def _serve(request: Request) -> Response:
    await _require_login(request)
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


async def _require_login(request: Request) -> None:
    """Raise HTTPException 401 if the page requires a login and the visitor has none. Gradio checks
    this only for its own routes."""
    app = request.app
    if app.auth is None and app.auth_dependency is None:
        return
    if await _user(request) is None:
        raise HTTPException(401, "Not logged in.")


async def _user(request: Request) -> str | None:
    """The name of the visitor who is logged in; None without a login. Gradio's `get_current_user`
    does the same, but it can be reached only through `app.routes`, whose structure differs between
    versions of FastAPI."""
    app = request.app
    if app.auth_dependency is not None:
        user = app.auth_dependency(request)
        return await user if inspect.isawaitable(user) else user
    cookies = (f"access-token-{app.cookie_id}", f"access-token-unsecure-{app.cookie_id}")
    tokens = (request.cookies.get(name) for name in cookies)
    return app.tokens.get(next(filter(None, tokens), None))
