"""The page works in a browser that blocks its storage, and remembers nothing. It also works without
other things that browsers withhold: changes of the address, the clipboard, databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from running_app import CHROMIUM, FLAGS, App, open_tab
from test_page import enter, ready, until

NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, {
    get() { throw new DOMException("Access is denied for this document.", "SecurityError"); },
  });"""
NO_STORAGE_AT_ALL = """for (const name of ["localStorage", "sessionStorage", "indexedDB"])
  Object.defineProperty(window, name, { value: null });"""
FULL = """Storage.prototype.setItem = () => {
  throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
};"""
NO_ADDRESS = """for (const name of ["pushState", "replaceState"])
  history[name] = () => { throw new DOMException("Too many calls", "SecurityError"); };"""
NO_CLIPBOARD = 'Object.defineProperty(navigator, "clipboard", { value: undefined });'
WITHHELD = {
    "storage": NO_STORAGE,
    "storage and databases": NO_STORAGE_AT_ALL,
    "room in the storage": FULL,
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
    page.goto(app.url)
    ready(page)
    page.evaluate("document.querySelector('[data-act=panel]').click()")
    page.wait_for_selector("#pg-run")
    yield page
    assert problems == []


def run(page: Page) -> None:
    enter(page, tokens=12)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.done", 60)


@pytest.mark.nightly
@pytest.mark.parametrize("what", WITHHELD)
def test_the_page_works_without(browser: Browser, app: App, what: str) -> None:
    with opened(browser, app, WITHHELD[what]) as page:
        run(page)
        page.click("#pg-link")
        expect(page.locator("#pg-view [data-part=notice]")).to_contain_text("ink")
        open_tab(page, "Tour")
        expect(page.locator(".sq-tour")).to_be_visible()
        page.reload()
        ready(page)


@pytest.mark.nightly
def test_the_page_works_in_a_browser_set_to_block_all_cookies(
    browser: Browser, app: App, tmp_path: Path
) -> None:
    settings = {"profile": {"default_content_setting_values": {"cookies": 2}}}
    (tmp_path / "Default").mkdir()
    (tmp_path / "Default" / "Preferences").write_text(json.dumps(settings))
    context = browser.browser_type.launch_persistent_context(
        str(tmp_path), executable_path=CHROMIUM, args=FLAGS
    )
    for page in used(context.new_page(), app):
        blocked = "try { localStorage.constructor.name } catch (problem) { problem.name }"
        assert page.evaluate(blocked) == "MemoryStorage"
        run(page)
    context.close()
