"""Measures what a live run with a 128-node tree costs the browser on the Decode view's test page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cost_rounds import Figures
from playwright.sync_api import Browser, CDPSession, Page

NODES = "128"  # the name of a canned run
MESSAGES = 84
PER_SECOND = 12
SETTLE_MS = 300  # time to finish drawing after the page's start, the last message or a zoom
FEED = """([run, count, gap, settle]) => new Promise((done) => {
  const { meta, trees, pieces, steps } = run;
  const name = "cost-" + Math.random();
  const quiet = { v: 1, run: name, done: false, error: null, notice: null };
  const settings = { ...meta, label: "measured" };
  const lanes = [{ name: "Sequoia", kind: "best", plain: false }];
  stage.ingest({ ...quiet, from: 0, meta: settings, lanes, trees, pieces, steps: [] });
  let sent = 0;
  const timer = setInterval(() => {
    const step = { ...steps[sent % steps.length], i: sent };
    stage.ingest({ ...quiet, from: sent, steps: [step], step_lanes: [0] });
    sent += 1;
    if (sent < count) return;
    clearInterval(timer);
    setTimeout(done, settle);
  }, gap);
})"""


def canned_run() -> dict[str, Any]:
    text = Path(__file__).with_name("canned.json").read_text(encoding="utf-8")
    return json.loads(text)[NODES]


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[Page]:
    """The test page without a run."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(address)
    page.wait_for_function("window.stage")
    page.wait_for_timeout(SETTLE_MS)
    yield page
    context.close()


def main_thread(page: Page) -> CDPSession:
    """A DevTools session for `busy_ms`."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    return session


def busy_ms(session: CDPSession) -> float:
    """Processor milliseconds of the page's main thread so far.

    Chromium's TaskDuration would include the time in which other programs had the processor.
    """
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(1000 * each["value"] for each in metrics if each["name"] == "ThreadTime")


def live_cost(browser: Browser, address: str) -> Figures:
    """Live run, 128 nodes, 12 messages a second: main-thread processor ms per message"""
    return {
        "focus": live_in(browser, address, "focus"),
        "all nodes (the default at this size)": live_in(browser, address, "all"),
    }


def live_in(browser: Browser, address: str, mode: str) -> float:
    with opened(browser, address) as page:
        page.evaluate("mode => stage.store.set({ mode })", mode)
        session = main_thread(page)
        before = busy_ms(session)
        page.evaluate(FEED, [canned_run(), MESSAGES, 1000 / PER_SECOND, SETTLE_MS])
        return (busy_ms(session) - before) / MESSAGES
