"""The page works in a browser that blocks its storage, and remembers nothing. It also works without
other things that browsers withhold: changes of the address, the clipboard, databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect
from run_form import choose_lanes, enter, ready, run
from running_app import App, models_ready, open_view

NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, {
    get() { throw new DOMException("Access is denied for this document.", "SecurityError"); },
  });"""
NO_ADDRESS = """for (const name of ["pushState", "replaceState"])
  history[name] = () => { throw new DOMException("Too many calls", "SecurityError"); };"""
NO_CLIPBOARD = 'Object.defineProperty(navigator, "clipboard", { value: undefined });'
WITHHELD = {
    "storage": NO_STORAGE,
    "changes of the address": NO_ADDRESS,
    "the clipboard": NO_CLIPBOARD,
}


@contextmanager
def opened(browser: Browser, app: App, script: str) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(script)
    yield from used(page, app)
    context.close()


def used(page: Page, app: App) -> Iterator[Page]:
    """The page; at the end, no script may have failed."""
    problems: list[str] = []
    page.on("pageerror", lambda problem: problems.append(str(problem)))
    page.goto(f"{app.url}#run")
    ready(page)
    yield page
    assert problems == []


@pytest.mark.nightly
@pytest.mark.parametrize("what", WITHHELD)
def test_the_page_works_without(browser: Browser, app: App, what: str) -> None:
    with opened(browser, app, WITHHELD[what]) as page:
        choose_lanes(page, "Plain")
        enter(page, tokens=12)
        run(page)
        page.click("#pg-link")
        expect(page.locator("#pg-view [data-part=notice]")).to_contain_text("ink")
        open_view(page, "Tour")
        expect(page.locator(".sq-tour")).to_be_visible()
        page.reload()
        models_ready(page)
