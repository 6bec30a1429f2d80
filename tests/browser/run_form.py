"""The Run view of the running app, as a test fills its form and reads what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Download, Page, expect
from running_app import models_ready

STAGE = "document.querySelector('#pg-view .sq-stage')?.view"
STORE = f"{STAGE}?.store"
LANES = range(1, 5)
MADE = "['measured', 'simulated'].includes(s.meta.label)"  # here, not recorded


def store(page: Page, what: str) -> Any:
    """The value of a JavaScript expression; in it, s is the view's store."""
    return page.evaluate(f"(s => {what})({STORE})")


def until(page: Page, true: str, seconds: float = 30) -> None:
    """Wait until a condition on the store `s` holds, for instance "s.arrived.length > 3"."""
    page.wait_for_function(
        f"(() => {{ const s = {STORE}; return s && ({true}); }})()", timeout=seconds * 1000
    )


def ready(page: Page) -> None:
    models_ready(page)
    until(page, "s.arrived.length > 0")  # the recorded run has arrived


def open_more(page: Page) -> None:
    """Open "More", the part of the form that is closed at first."""
    if not page.is_visible("#pg-temperature"):
        page.click("#pg-more > button")
        page.wait_for_selector("#pg-temperature")


def enter(page: Page, **values: Any) -> None:
    """Type numbers into the form."""
    open_more(page)
    for name, value in values.items():
        page.fill(f"#pg-{name.replace('_', '-')} input", str(value))


def endless(page: Page, **values: Any) -> None:
    """Fill the form so that the run reaches its token limit on every machine. After a row of zeros,
    the most probable token is always another zero. The temperature is 0 because a sampled text may
    end after any token."""
    page.fill("#pg-prompt textarea", "0 " * 13 + "0")
    enter(page, temperature=0, **values)


def choose(page: Page, menu: str, option: str, exact: bool = False) -> None:
    page.click(f"#pg-{menu} input")
    # the previous menu may still be closing
    page.get_by_role("option", name=option, exact=exact).last.click()


def numbers(page: Page, lane: int) -> Any:
    """The field with the numbers of a lane's tree."""
    return page.locator(f"#pg-numbers-{lane} :is(input, textarea)")


def choose_lanes(page: Page, *kinds: str) -> None:
    """Fill the lanes with these kinds, and remove the others."""
    for lane in LANES:
        menu = page.locator(f"#pg-kind-{lane} input")
        if lane <= len(kinds):
            if not menu.is_visible():
                page.click("#pg-add-lane")
            expect(menu).to_be_visible()
            choose(page, f"kind-{lane}", kinds[lane - 1], exact=True)
        elif menu.is_visible():
            choose(page, f"kind-{lane}", "no lane", exact=True)
            expect(menu).to_be_hidden()


def endless_and_slow(page: Page) -> None:
    """Fill the form so that the run lasts until the test stops it: its trees are large and slow."""
    choose_lanes(page, "SpecInfer tree")
    expect(numbers(page, 1)).to_have_value("4, 2, 2, 1")
    numbers(page, 1).fill("400")
    endless(page, tokens=1900)


def run(page: Page, seconds: float = 60) -> None:
    """Press Run, and wait until the new run has ended."""
    before = store(page, "s.name")
    page.click("#pg-run")
    until(page, f"s.name !== '{before}' && {MADE} && s.done", seconds)


def save(page: Page, file: Path) -> Path:
    """Save the run on screen to `file`."""
    expect(page.locator("#pg-save")).to_be_enabled()
    with page.expect_download() as waiting:
        page.click("#pg-save")
    download: Download = waiting.value
    download.save_as(file)
    return file


def open_file(page: Page, file: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.click("#pg-open")
    chooser.value.set_files(file)
