"""The running app, and a page opened in it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = "/usr/bin/chromium"
PLACES: dict[str, dict[str, str]] = json.loads((ROOT / "assets" / "places.json").read_text())
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",  # a process less, so a page takes less processor time to open
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class App:
    """`python app.py` in its own process, on a free port. `changes`: further environment
    variables."""

    def __init__(self, *flags: str, **changes: str) -> None:
        self.url = f"http://127.0.0.1:{(port := free_port())}/"
        environment = {
            **os.environ,
            "GRADIO_SERVER_PORT": str(port),
            # nothing listens at this address, so the app cannot reach other machines
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
        }
        environment.pop("NO_PROXY", None)
        environment.pop("no_proxy", None)
        environment |= changes
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "app.py"), *flags],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: list[str] = []
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        self._lines.extend(self.process.stdout)

    def printed(self, words: str, seconds: float = 20) -> str:
        """The first printed line with `words`, as soon as there is one."""
        end = time.monotonic() + seconds
        while not (found := [line for line in self._lines if words in line]):
            assert time.monotonic() < end, self._lines
            time.sleep(0.05)
        return found[0]

    def answer(self, seconds: float = 150) -> float:
        """Wait until the page is served. Returns the seconds since the start."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            try:
                opener.open(self.url, timeout=2).close()
                return time.monotonic() - self.started
            except OSError:
                assert self.process.poll() is None, self._lines
                assert time.monotonic() - self.started < seconds, "the page was not served in time"
                time.sleep(0.1)

    def stop(self) -> str:
        """Stop the app. Returns everything it printed."""
        self.process.terminate()
        self.process.wait(30)
        self._reader.join(10)
        return "".join(self._lines)


def open_view(page: Page, name: str) -> None:
    """Open a view by its name, as a visitor does: first its place, unless that is open. Or open the
    drawer "Models"."""
    if name == "Models":
        page.click("[data-act=models]")
        return
    tab = page.get_by_role("tab", name=name, exact=True)
    if not tab.count():
        place = next(place for place, views in PLACES.items() if name in views.values())
        page.get_by_role("tab", name=place, exact=True).click()
    tab.click()


def models_ready(page: Page) -> None:
    """Wait until the models are loaded."""
    page.wait_for_selector(".pg-status[data-stage=ready]", timeout=240_000)


class Contexts:
    """Browser contexts that are reused by later visits. Their storage is cleared. Their cache is
    kept, because with an empty cache a page takes twice as much processor time to open."""

    def __init__(self) -> None:
        self._unused: dict[tuple[Browser, str], list[BrowserContext]] = {}

    @staticmethod
    def _key(browser: Browser, options: dict[str, Any]) -> tuple[Browser, str]:
        return browser, json.dumps(options, sort_keys=True)

    def take(self, browser: Browser, options: dict[str, Any]) -> BrowserContext:
        unused = self._unused.get(self._key(browser, options))
        return unused.pop() if unused else browser.new_context(**options)

    def give(self, context: BrowserContext, options: dict[str, Any], url: str) -> None:
        """Close the pages of `context`, clear what the site of `url` stored in it, and keep the
        context for a later visit with the same options."""
        session = context.new_cdp_session((context.pages or [context.new_page()])[0])
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        kinds = "local_storage,cookies,indexeddb"
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": kinds})
        for page in context.pages:
            page.close()
        assert context.browser
        self._unused.setdefault(self._key(context.browser, options), []).append(context)


CONTEXTS = Contexts()
# Options that can be set on a page. Visits that differ only in these can use the same context.
OF_A_PAGE = ("viewport", "color_scheme", "reduced_motion")


class Visit:
    """A page, with its console messages and the addresses it requested. has_form: whether to open
    Run with its form; otherwise the page opens as for a stranger, with the film. options:
    those of Browser.new_context."""

    def __init__(self, browser: Browser, url: str, has_form: bool = True, **options: Any) -> None:
        self.open(browser, url + "#run" * has_form, options)
        stage = f"document.querySelector('#{'pg' if has_form else 'fm'}-view .sq-stage')"
        self.page.wait_for_function(f"{stage}?.view && !{stage}.matches('.is-waiting')")
        if has_form and not self.page.is_visible("#pg-run"):  # in a narrow window
            self.page.evaluate("document.querySelector('[data-act=panel]').click()")
            self.page.wait_for_selector("#pg-run")

    def open(self, browser: Browser, url: str, options: dict[str, Any]) -> None:
        self._options = {name: one for name, one in options.items() if name not in OF_A_PAGE}
        self.context = CONTEXTS.take(browser, self._options)
        self.page: Page = self.context.new_page()
        self.page.set_viewport_size(options.get("viewport", {"width": 1280, "height": 800}))
        self.page.emulate_media(
            color_scheme=options.get("color_scheme"), reduced_motion=options.get("reduced_motion")
        )
        self.console: list[str] = []
        self.requests: list[str] = []
        self.page.on(
            "console", lambda message: self.console.append(f"{message.type}: {message.text}")
        )
        self.page.on("pageerror", lambda error: self.console.append(f"error: {error}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(url)

    def check(self, url: str) -> None:
        """Close the page; check that its console is empty and that it requested nothing from other
        machines."""
        CONTEXTS.give(self.context, self._options, url)
        assert self.console == [], self.console
        assert [
            address for address in self.requests if not address.startswith((url, "data:", "blob:"))
        ] == []
