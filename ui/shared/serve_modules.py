"""Serves the page's modules and Plotly's script under one path to visitors who may see the page.

The path holds a hash of the modules, so that a browser with an old copy never mixes two versions.
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

from ui.shared.join_modules import join, modules

PATH = "/sequoia-web"
_PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
_KEEP = {"Cache-Control": "private, max-age=31536000, immutable"}


@dataclass(frozen=True)
class Joined:
    """The joined modules, ready to be served."""

    text: bytes
    zipped: bytes
    version: str


@cache
def joined() -> Joined:
    """The page's modules, joined at the first call."""
    text = join(modules()).encode()
    return Joined(text, gzip.compress(text, 6), hashlib.sha256(text).hexdigest()[:16])


def route() -> Route:
    """Serves the modules and Plotly's script to visitors who may see the page."""
    return Route(PATH + "/{version}/{name}", _serve, methods=["GET"])


async def _serve(request: Request) -> Response:
    await _require_login(request)
    name = request.path_params["name"]
    if request.path_params["version"] != joined().version:
        raise HTTPException(404, "Another version of the page. Reload it.")
    if name == "plotly.min.js":
        return FileResponse(_PLOTLY, media_type="text/javascript", headers=_KEEP)
    if name != "modules.js":
        raise HTTPException(404, "No such file.")
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(joined().text, media_type="text/javascript", headers=_KEEP)
    headers = {**_KEEP, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(joined().zipped, media_type="text/javascript", headers=headers)


async def _require_login(request: Request) -> None:
    """Gradio's own routes make this check; a route beside them has to make it itself."""
    app = request.app
    if app.auth is None and app.auth_dependency is None:
        return
    if await _user(request) is None:
        raise HTTPException(401, "Not logged in.")


async def _user(request: Request) -> str | None:
    """The same as `get_current_user` of Gradio's routes, which cannot be called from here: how
    `app.routes` holds them differs between versions of FastAPI."""
    app = request.app
    if app.auth_dependency is not None:
        user = app.auth_dependency(request)
        return await user if inspect.isawaitable(user) else user
    cookies = (f"access-token-{app.cookie_id}", f"access-token-unsecure-{app.cookie_id}")
    tokens = (request.cookies.get(name) for name in cookies)
    return app.tokens.get(next(filter(None, tokens), None))
