"""Many pages of one browser share its six connections to the server. A page that is closed gives up
its run, and so does one whose browser is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect
from run_form import endless_and_slow, ready, until
from running_app import CHROMIUM, FLAGS, App, free_port

POLLS = ".pg-polls"
BEGUN = "s.meta.label === 'measured'"
RUNNING = "s.meta.label === 'measured' && s.arrived.length > 0"


@contextmanager
def pages(browser: Browser, app: App, count: int) -> Iterator[list[Page]]:
    """Open pages in one context, which share connections. One after the other, because each takes seconds of the processor."""
    context = browser.new_context()
    made = [opened(context.new_page(), app) for _ in range(count)]
    yield made
    context.close()


def opened(page: Page, app: App) -> Page:
    page.set_default_timeout(60_000)
    page.goto(f"{app.url}#run")
    ready(page)
    return page


def start(page: Page) -> None:
    endless_and_slow(page)
    page.click("#pg-run")


def stop(page: Page, seconds: float) -> None:
    """Press Stop; the run must stop within `seconds`."""
    page.click("#pg-stop")
    until(page, "s.done", seconds)


@pytest.mark.nightly
def test_idle_pages_leave_the_connections_to_those_that_run(browser: Browser, app: App) -> None:
    """Opens eight pages. Five run: one works, the others wait, and the fifth says that it polls."""
    with pages(browser, app, 8) as (fifth, *idle, first):
        runs = [first, *idle[:3]]
        for page in runs:
            start(page)
            expect(page.locator("#pg-stop")).to_be_enabled()
        until(first, RUNNING)
        start(fifth)
        expect(fifth.locator(POLLS)).to_be_visible()
        expect(fifth.locator("#pg-view [data-part=notice]")).to_contain_text("4 runs ahead of you")
        for page in (first, *idle):
            expect(page.locator(POLLS)).to_be_hidden()
        for page in runs[1:]:
            page.click("#pg-stop")
        expect(fifth.locator("#pg-view [data-part=notice]")).to_contain_text("1 run ahead of you")
        expect(fifth.locator(POLLS)).to_be_hidden()  # there is room again
        stop(first, 10)
        until(fifth, RUNNING)
        stop(fifth, 10)


@pytest.mark.nightly
def test_the_run_of_a_closed_page_ends_at_once(browser: Browser, app: App) -> None:
    with pages(browser, app, 3) as (closed, reloaded, waiting):
        for page in (closed, reloaded, waiting):
            start(page)
        until(closed, RUNNING)
        closed.close(run_before_unload=False)
        begun = time.monotonic()
        until(reloaded, BEGUN, 20)  # less than the time after which a silent page is gone
        reloaded.reload()
        until(waiting, BEGUN, 20)
        print(f"\n{time.monotonic() - begun:.1f} s until two pages' runs had ended")
        stop(waiting, 10)


@contextmanager
def another_browser(browser: Browser, folder: Path) -> Iterator[tuple[Browser, int]]:
    """A browser that is not a child of the test's, and the number of its process group."""
    port = free_port()
    arguments = [f"--remote-debugging-port={port}", f"--user-data-dir={folder}", "--headless=new"]
    process = subprocess.Popen(
        [CHROMIUM, *FLAGS, *arguments], stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield connected(browser, f"http://127.0.0.1:{port}"), process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def connected(browser: Browser, address: str) -> Browser:
    for _ in range(100):
        try:
            return browser.browser_type.connect_over_cdp(address)
        except Error:
            time.sleep(0.2)
    raise AssertionError("the second browser did not start")


@pytest.mark.nightly
@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_the_run_of_a_killed_browser_ends_within_a_minute(
    browser: Browser, app: App, tmp_path: Path, how: signal.Signals
) -> None:
    """SIGSTOP: as with a laptop that falls asleep, its connections stay open."""
    alone = another_browser(browser, tmp_path)
    with pages(browser, app, 1) as (waiting,), alone as (other, group):
        page = opened(other.new_context().new_page(), app)
        start(page)
        until(page, RUNNING)
        start(waiting)
        expect(waiting.locator("#pg-view [data-part=notice]")).to_contain_text("1 run ahead")
        os.killpg(group, how)
        until(waiting, RUNNING, 60)
        stop(waiting, 10)
