"""Measures what a 128-node tree costs the browser on the Decode view's test page: during a live
run, and while the tree is dragged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cost_rounds import Figures, at_share
from playwright.sync_api import Browser, CDPSession, Page

NODES = "128"  # the name of a canned run
MESSAGES = 84
PER_SECOND = 12
MOVES = 240  # mouse moves in one drag; Chromium handles one per frame
SWING = 60  # moves in one direction
SETTLE_MS = 300  # time to finish drawing after the page's start, the last message or a zoom
FEED = """([run, count, gap, settle]) => new Promise((done) => {
  const { meta, trees, pieces, steps } = run;
  const name = "cost-" + Math.random();
  const quiet = { v: 1, run: name, done: false, error: null, notice: null };
  const settings = { ...meta, label: "measured" };
  stage.ingest({ ...quiet, from: 0, meta: settings, trees, pieces, steps: [] });
  let sent = 0;
  const timer = setInterval(() => {
    const step = { ...steps[sent % steps.length], i: sent };
    stage.ingest({ ...quiet, from: sent, steps: [step] });
    sent += 1;
    if (sent < count) return;
    clearInterval(timer);
    setTimeout(done, settle);
  }, gap);
})"""
SHOW = """(run) => {
  stage.ingest(JSON.stringify(run));
  stage.seek(1);
  stage.setMode("all");
}"""
PLACE = "document.querySelector('.sq-tree-scroll')"
COUNT_FRAMES = f"""() => {{
  const seen = (window.seen = {{ frames: [], moved: 0, counting: true }});
  let last = performance.now();
  let place = "";
  const look = (now) => {{
    const next = {PLACE}.scrollLeft + " " + {PLACE}.scrollTop;
    seen.frames.push(now - last);
    if (next !== place) seen.moved += 1;
    last = now;
    place = next;
    if (seen.counting) requestAnimationFrame(look);
  }};
  requestAnimationFrame(look);
}}"""
END_COUNT = """() => {
  window.seen.counting = false;
  return [window.seen.frames.slice(1), window.seen.moved];
}"""


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
        page.evaluate("mode => stage.setMode(mode)", mode)
        session = main_thread(page)
        before = busy_ms(session)
        page.evaluate(FEED, [canned_run(), MESSAGES, 1000 / PER_SECOND, SETTLE_MS])
        return (busy_ms(session) - before) / MESSAGES


def pan_cost(browser: Browser, address: str) -> Figures:
    """Dragging a 128-node tree: milliseconds per frame"""
    with opened(browser, address) as page:
        page.evaluate(SHOW, canned_run())
        point = enlarge(page)
        session = main_thread(page)
        before = busy_ms(session)
        page.evaluate(COUNT_FRAMES)
        drag(page, *point)
        frames, moved = page.evaluate(END_COUNT)
        busy = busy_ms(session) - before
    assert moved > len(frames) / 2, f"the tree moved in {moved} of {len(frames)} frames only"
    return {
        "frame, median": at_share(frames, 0.5),
        "frame, 95th percentile": at_share(frames, 0.95),
        "processor time of the main thread per frame": busy / len(frames),
    }


def enlarge(page: Page) -> tuple[float, float]:
    """Zoom in, so that the tree is larger than its box. Returns the mouse position (x, y).

    At its first size the tree may fit into the box, and then a drag would move nothing.
    """
    box = page.locator(".sq-tree-scroll").bounding_box()
    assert box, "the page shows no tree"
    x = box["x"] + box["width"] / 2
    y = (box["y"] + min(box["y"] + box["height"], 800)) / 2
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    page.wait_for_timeout(SETTLE_MS)
    return x, y


def drag(page: Page, x: float, y: float) -> None:
    """Pull the tree to and fro."""
    page.mouse.move(x, y)
    page.mouse.down()
    for number in range(MOVES):
        turn = number % (2 * SWING)
        far = min(turn, 2 * SWING - turn)
        page.mouse.move(x - 3 * far, y - 2 * far)
    page.mouse.up()
