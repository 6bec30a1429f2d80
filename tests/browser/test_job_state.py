"""Buttons are enabled again after the server refuses a request before any handler sees it, and
after the stream of messages breaks. Guards against a button that waits for a message which never
comes, and so stays disabled until the page is reloaded."""

from __future__ import annotations

from playwright.sync_api import Browser, expect
from run_form import choose_lanes, enter, ready, run, until
from running_app import App, Visit

JOIN = "**/queue/join*"
STREAM = "**/queue/data*"
FULL = '{"detail": "Queue is full. Max size is 480 and size is 480."}'
NOT_TAKEN = "Not started: the server did not accept the request."
WAIT = 30_000  # milliseconds


def test_buttons_come_back_after_a_refused_press_and_a_short_break(
    browser: Browser, app: App
) -> None:
    """This test ignores errors in the console, because the browser reports both failures there."""
    page = Visit(browser, app.url).page
    ready(page)
    choose_lanes(page, "Plain")
    enter(page, tokens=24)
    page.route(JOIN, lambda route: route.fulfill(status=503, body=FULL))
    page.click("#pg-run")
    expect(page.locator("#pg-run")).to_be_disabled()
    for button in ("run", "step", "open"):
        expect(page.locator(f"#pg-{button}")).to_be_enabled(timeout=WAIT)
    expect(page.locator("#pg-view [data-part=error]")).to_contain_text(NOT_TAKEN)
    page.unroute(JOIN)
    run(page)

    # a short break changes nothing
    expect(page.locator("#pg-run")).to_be_enabled(timeout=WAIT)
    page.route(STREAM, lambda route: route.abort())
    page.click("#pg-run")
    page.wait_for_timeout(500)
    page.unroute(STREAM)
    until(page, "s.meta.label === 'measured' && s.done && !s.error")
    page.context.close()
