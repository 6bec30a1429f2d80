"""The page behind a reverse proxy that serves it below a path, in a real Chromium."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Browser
from running_app import App, Visit

BELOW = "/below"
# headers that hold for one connection only
DROPPED = {"connection", "keep-alive", "transfer-encoding"}

pytestmark = pytest.mark.nightly  # it starts an app of its own


class Proxy(BaseHTTPRequestHandler):
    """Passes on requests below `BELOW`, with that prefix removed. It keeps the Host header, because
    the app refuses requests from a page of another host."""

    port: int  # of the app

    def do_GET(self) -> None:
        self._pass_on()

    def do_POST(self) -> None:
        self._pass_on()

    def log_message(self, *_: object) -> None:
        pass

    def _pass_on(self) -> None:
        if not self.path.startswith(BELOW + "/"):  # a browser asks for /favicon.ico
            self.send_response(204)
            self.end_headers()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        sent = {name: one for name, one in self.headers.items() if name.lower() not in DROPPED}
        to_app = http.client.HTTPConnection("127.0.0.1", self.port)
        to_app.request(self.command, self.path.removeprefix(BELOW), body, sent)
        self._answer(to_app.getresponse())
        to_app.close()

    def _answer(self, answer: http.client.HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in DROPPED:
                self.send_header(name, value)
        self.end_headers()
        try:
            while part := answer.read1(65_536):
                self.wfile.write(part)
                self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError, http.client.IncompleteRead):
            pass  # the page was closed, or the app ended


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the proxy serves the page."""
    app = App(GRADIO_ROOT_PATH=BELOW)
    app.answer()
    port = int(app.url.rsplit(":", 1)[1].strip("/"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("ToApp", (Proxy,), {"port": port}))
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}{BELOW}/"
    server.shutdown()
    printed = app.stop()
    assert "Traceback" not in printed, printed


def test_below_a_root_path_the_page_loads_its_modules_and_plotly(
    browser: Browser, address: str
) -> None:
    visit = Visit(browser, address)
    visit.page.wait_for_selector(".pg-status[data-stage=ready]", timeout=60_000)
    visit.page.get_by_role("tab", name="Hardware").click()
    visit.page.wait_for_selector(".hw-chart[data-drawn=yes]", timeout=30_000)
    visit.check(address)
    scripts = [address for address in visit.requests if "/sequoia-web/" in address]
    names = {asked.rsplit("/", 1)[1] for asked in scripts}
    assert names == {"first.js", "modules.js", "page.css", "plotly.min.js"}
