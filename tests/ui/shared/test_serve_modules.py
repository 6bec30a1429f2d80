"""The page's JavaScript modules joined into one, Plotly's script, and the templates of
saved pages, as a real Gradio server serves them, also under a root path. The modules are compressed
for browsers that accept gzip. No other files are served under the same path."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr
import httpx
import pytest

from ui.shared import serve_modules
from ui.shared.join_modules import saved_pages
from ui.shared.saved_pages import template
from ui.shared.serve_modules import PATH, joined

Served = Callable[..., httpx.Client]
FOLDER = f"{PATH}/{joined().version}"
MODULES = f"{FOLDER}/modules.js"
PLOTLY = f"{FOLDER}/plotly.min.js"


@pytest.fixture(scope="module")
def serve() -> Iterator[Served]:
    """A function that serves an empty page as ui/page.py does, and returns a client of it."""
    open_ones: list[tuple[gr.Blocks, httpx.Client]] = []

    def start(**options: Any) -> httpx.Client:
        with gr.Blocks(analytics_enabled=False) as blocks:
            gr.HTML("")
        routes = {"routes": [serve_modules.route()]}
        blocks.launch(
            prevent_thread_lock=True, app_kwargs=routes, quiet=True, ssr_mode=False, **options
        )
        address = f"http://127.0.0.1:{blocks.server_port}"
        client = httpx.Client(base_url=address, trust_env=False, timeout=30)
        open_ones.append((blocks, client))
        return client

    yield start
    for blocks, client in open_ones:
        client.close()
        blocks.close(verbose=False)


@pytest.fixture(scope="module")
def client(serve: Served) -> httpx.Client:
    return serve()


def test_the_modules_are_compressed_for_browsers_that_accept_gzip(client: httpx.Client) -> None:
    with client.stream("GET", MODULES, headers={"Accept-Encoding": "gzip, br"}) as answer:
        packed = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert gzip.decompress(packed) == joined().text
    assert client.get(PLOTLY).status_code == 200
    assert len(packed) < len(joined().text) / 2


def test_another_version_of_plotly_has_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards against a browser that keeps the old script for a year."""
    before = joined()
    monkeypatch.setattr(serve_modules.plotly, "__version__", "0.0.0")
    after = joined.__wrapped__()
    assert after.text == before.text
    assert after.version != before.version


@pytest.mark.parametrize("view", saved_pages())
def test_the_templates_of_saved_pages_are_served_as_text(client: httpx.Client, view: str) -> None:
    served = client.get(f"{FOLDER}/saved-{view}.txt")
    assert served.headers["content-type"].startswith("text/plain")
    assert served.text == template(view)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "serve_modules.py",
        "saved-..%2fdecode.txt",
        "..%2fmodules.js",
        "%2fetc%2fpasswd",
    ],
)
def test_nothing_else_is_served(client: httpx.Client, name: str) -> None:
    assert client.get(f"{FOLDER}/{name}").status_code == 404


def test_under_a_root_path_the_modules_are_served_behind_the_proxy(serve: Served) -> None:
    """The paths that the page requests start with the root path. A proxy may remove it or not."""
    client = serve(root_path="/x")
    assert '"root":"http://127.0.0.1' in (page := client.get("/").text)
    assert "/x" in page
    assert client.get(MODULES).content == joined().text
    assert client.get(f"/x{MODULES}").content == joined().text
