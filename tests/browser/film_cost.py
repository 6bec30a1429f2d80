"""What a stranger's first half minute on the app's page costs: bytes of the page, layout shift,
layouts and frames while the recording plays in slow motion."""

from __future__ import annotations

import gzip
import urllib.request

from cost_rounds import Figures, at_share
from playwright.sync_api import Browser, CDPSession

WIDTHS = (390, 1280, 1920)
SHIFT_SECONDS = 30.0
FILM_SECONDS = 6.0
# the sum of all layout shifts that no visitor caused, as browsers define it
WATCH = """
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) window.shift += one.value;
  }).observe({ type: "layout-shift", buffered: true });
"""
# milliseconds between frames, for some milliseconds
FRAMES = """(most) => new Promise((resolve) => {
  const found = [];
  let last = performance.now();
  const end = last + most;
  const look = (now) => {
    found.push(now - last);
    last = now;
    if (now < end) requestAnimationFrame(look);
    else resolve(found.slice(1));
  };
  requestAnimationFrame(look);
})"""
STORE = "document.querySelector('#fm-view .sq-stage').view.store"


def film_cost(browser: Browser, address: str) -> Figures:
    """The app's page while its recording plays: bytes sent, layout shift, layouts, frames"""
    found: Figures = {"page, kB as sent": page_bytes(address) / 1e3}
    for width in WIDTHS:
        found[f"layout shift in {SHIFT_SECONDS:.0f} s, {width} px"] = shift(browser, address, width)
    return found | film(browser, address)


def page_bytes(address: str) -> int:
    """Bytes of the page as a browser receives it, which accepts gzip."""
    request = urllib.request.Request(address, headers={"Accept-Encoding": "gzip"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request) as answer:
        body = answer.read()
    assert body[:2] != b"\x1f\x8b" or b"sq-stage" in gzip.decompress(body)
    return len(body)


def shift(browser: Browser, address: str, width: int) -> float:
    """The layout shift of the page in its first SHIFT_SECONDS."""
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_timeout(1000 * SHIFT_SECONDS)
    found = page.evaluate("window.shift")
    context.close()
    return found


def film(browser: Browser, address: str) -> Figures:
    """Layouts and frames in FILM_SECONDS of slow motion at 1280 px."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("[data-part=own]:visible", timeout=60_000)
    page.wait_for_function(f"{STORE}.playing")
    page.evaluate(f"(s => {{ s.seek(0); s.chooseRate('slow'); s.play(); }})({STORE})")
    page.wait_for_timeout(1000)
    metrics = page.context.new_cdp_session(page)
    metrics.send("Performance.enable")
    before = layouts(metrics)
    frames = page.evaluate(FRAMES, 1000 * FILM_SECONDS)
    count = layouts(metrics) - before
    context.close()
    return {
        f"layouts in {FILM_SECONDS:.0f} s of slow motion": count,
        "frames a second in slow motion": 1000 * len(frames) / sum(frames),
        "frame in slow motion, ms, 95th percentile": at_share(frames, 0.95),
    }


def layouts(metrics: CDPSession) -> float:
    found = metrics.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in found if one["name"] == "LayoutCount")
