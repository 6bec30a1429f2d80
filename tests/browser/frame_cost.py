"""How smoothly the app's page moves while a recording plays, and while a run is decoded."""

from __future__ import annotations

from collections.abc import Callable

from cost_rounds import Figures, at_share
from playwright.sync_api import Browser, Page

SECONDS = 8.0  # of a recording, at each speed
SMOOTH_MS = 34.0  # two frames of a display at 60 Hz, and the clock's rounding
TOKENS = "256"
STORE = "document.querySelector('#pg-view .sq-stage').view.store"
COUNT_FRAMES = """() => {
  const seen = (window.seen = { frames: [], counting: true });
  let last = performance.now();
  const look = (now) => {
    seen.frames.push(now - last);
    last = now;
    if (seen.counting) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
END_COUNT = """() => {
  window.seen.counting = false;
  return window.seen.frames.slice(1);
}"""


def frame_times(browser: Browser, address: str) -> Figures:
    """The app's page with loaded models: frames during playback and decoding, times in ms"""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("[data-part=own]:visible", timeout=60_000)
    page.wait_for_function(f"{STORE}.playing")
    slow = frames_while(page, lambda: page.wait_for_timeout(1000 * SECONDS))
    play_at_easy_rate(page)
    steps = frames_while(page, lambda: page.wait_for_timeout(1000 * SECONDS))
    decoding = frames_while(page, lambda: decode(page))
    context.close()
    return {
        "recording in slow motion: % of frames in 33 ms": smooth_share(slow),
        "recording in slow motion: frame, 95th percentile": at_share(slow, 0.95),
        "recording, step by step: % of frames in 33 ms": smooth_share(steps),
        "recording, step by step: frame, 95th percentile": at_share(steps, 0.95),
        "while decoding: frames a second": 1000 * len(decoding) / sum(decoding),
        "while decoding: frame, 95th percentile": at_share(decoding, 0.95),
    }


def play_at_easy_rate(page: Page) -> None:
    """Play the recording from its start, each step for at least 0.2 seconds."""
    page.evaluate(
        f"(s => {{ s.seek(0); s.isRateChosen = true; s.rate = 'easy'; s.play(); }})({STORE})"
    )


def decode(page: Page) -> None:
    """Press Run and wait until the run has ended."""
    page.evaluate("document.querySelector('[data-part=own]').click()")
    page.wait_for_selector("#pg-run:not([disabled])")
    page.fill("#pg-tokens input", TOKENS)
    before = page.evaluate(f"{STORE}.run")
    page.click("#pg-run")
    page.wait_for_function(
        f"before => {STORE}.run !== before && {STORE}.done",
        arg=before,
        timeout=120_000,
        polling=100,
    )


def frames_while(page: Page, act: Callable[[], None]) -> list[float]:
    """Milliseconds between frames while `act` goes on."""
    page.evaluate(COUNT_FRAMES)
    act()
    return page.evaluate(END_COUNT)


def smooth_share(frames: list[float]) -> float:
    """Per cent of the frames that took no longer than two frames of a display."""
    return 100 * sum(one <= SMOOTH_MS for one in frames) / len(frames)
