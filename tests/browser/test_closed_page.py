"""A page that is closed or reloaded gives up its run."""

from __future__ import annotations

from playwright.sync_api import Browser, Page
from run_form import endless_and_slow, ready, store, until
from running_app import App

BEGUN = "s.meta.label === 'measured'"


def started(page: Page, app: App) -> Page:
    page.set_default_timeout(60_000)
    page.goto(f"{app.url}#run")
    ready(page)
    endless_and_slow(page)
    page.click("#pg-run")
    return page


def test_the_run_of_a_closed_page_ends_at_once(browser: Browser, app: App) -> None:
    context = browser.new_context()
    closed, reloaded, waiting = (started(context.new_page(), app) for _ in range(3))
    until(closed, f"{BEGUN} && s.arrived.length > 0")
    closed.close(run_before_unload=False)
    until(reloaded, BEGUN, 20)  # less than the time after which a silent page is gone
    reloaded.reload()
    until(waiting, BEGUN, 20)
    waiting.click("#pg-stop")
    until(waiting, "s.done", 10)
    assert store(waiting, "s.stopped")
    context.close()
