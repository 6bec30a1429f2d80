"""The page's address names the open view and what it shows. A reload, the Back button and a
copied link show the same again. A damaged address gives a message, and the page opens as it does
without a link."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote_plus

import pytest
from playwright.sync_api import Browser, Page, expect
from run_form import STAGE, enter, numbers, open_more, store, until
from running_app import App, Visit, models_ready, open_view

LAB = "document.querySelector('#lab-view .sq-lab')?.view?.state"
LANES = "lane1=plain:sequoia:&lane2=best:topk:32, 8&lane3=none:sequoia:&lane4=none:sequoia:"
Open = Callable[[str], Page]


@pytest.fixture
def open_at(browser: Browser, app: App) -> Iterator[Open]:
    """Opens the page with a fragment. At the end of the test, the page's console must be empty, and
    the page must have requested nothing from other machines."""
    visits: list[Visit] = []

    def opened(fragment: str) -> Page:
        context = {"permissions": ["clipboard-read", "clipboard-write"]}
        visits.append(AnyView(browser, app.url + fragment, **context))
        return visits[-1].page

    yield opened
    for visit in visits:
        visit.check(app.url)


class AnyView(Visit):
    """A visit that may open on any view. Unlike Visit, it does not wait for Run."""

    def __init__(self, browser: Browser, url: str, **options: Any) -> None:
        self.open(browser, url, options)
        self.page.wait_for_selector("[role=tab][aria-selected=true]")


def fragment(page: Page) -> str:
    return unquote_plus(page.evaluate("location.hash"))


def wait_for(page: Page, piece: str) -> None:
    page.wait_for_function(
        "piece => decodeURIComponent(location.hash.replaceAll('+', ' ')).includes(piece)", arg=piece
    )


def opened(page: Page) -> list[str]:
    """The place and the view that are open."""
    return page.get_by_role("tab", selected=True).all_inner_texts()


def test_back_and_reload_show_the_same_again(open_at: Open) -> None:
    page = open_at("")
    models_ready(page)
    page.wait_for_selector("[data-part=own]:visible")
    assert fragment(page) == ""
    open_view(page, "Run")
    until(page, "s.steps.length > 7")
    enter(page, temperature=0.3)
    page.evaluate(f"{STAGE}.seek(7)")
    wait_for(page, "step=7")
    wait_for(page, "temperature=0.3")
    open_view(page, "Tree")
    wait_for(page, "#design/tree")
    page.wait_for_function("document.querySelector('#lab-view .sq-lab')?.view")
    page.evaluate(f"{LAB}.set({{ n: 40 }})")
    wait_for(page, "n=40")
    open_view(page, "Machine")
    wait_for(page, "#design/machine")
    page.go_back()
    wait_for(page, "n=40")
    assert opened(page) == ["Design", "Tree"]
    page.go_back()
    wait_for(page, "step=7")
    assert opened(page) == ["Run"]
    page.wait_for_timeout(1000)  # reloading while a message arrives would write to the console
    page.reload()
    until(page, "s.at === 7")
    open_more(page)
    expect(page.locator("#pg-temperature input")).to_have_value("0.3")
    assert store(page, "s.playing") is False
    models_ready(page)
    page.wait_for_timeout(1000)


def test_the_arrow_keys_move_in_both_rows_and_a_place_opens_its_latest_view(open_at: Open) -> None:
    page = open_at("#learn/walk")
    expect(page.locator(".sq-walk [data-part=caption]")).to_be_visible(timeout=20_000)
    page.get_by_role("tab", name="Learn").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert opened(page) == ["Evidence", "Paper"]
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert opened(page) == ["Learn", "Walk"]
    page.get_by_role("tab", name="Walk").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert opened(page) == ["Learn", "Tour"]
    assert fragment(page) == "#learn/tour"


def test_a_link_fills_the_form_and_shows_its_lane_and_step(open_at: Open) -> None:
    page = open_at(f"#run&seed=9&{LANES}&lane=2&step=4")
    expect(numbers(page, 2)).to_have_value("32, 8")
    expect(page.locator("#pg-kind-1 input")).to_have_value("Plain")
    expect(page.locator("#pg-kind-3")).to_be_hidden()
    open_more(page)
    expect(page.locator("#pg-seed input")).to_have_value("9")
    view = page.locator("#pg-view")
    expect(view.locator(".run-lane.is-chosen h3")).to_have_text("Plain")
    expect(view.locator(".sq-place")).to_contain_text("step 5/")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("1")
    page.keyboard.press("Home")
    page.wait_for_function("location.hash.endsWith('&step=0')")


@pytest.mark.parametrize(
    ("damaged", "words"),
    [
        ("#run&temperature=abc", "temperature: “abc” is not a number"),
        ("#<script>alert(1)</script>", "is not a view"),
    ],
)
def test_a_damaged_link_gives_a_message_and_the_opening_view(
    open_at: Open, damaged: str, words: str
) -> None:
    page = open_at(damaged)
    error = page.locator("#fm-view [data-part=error]")
    expect(error).to_contain_text("This link is damaged and was ignored")
    expect(error).to_contain_text(words)
    assert opened(page) == ["Learn", "Film"]
    assert fragment(page) != unquote_plus(damaged)


def test_settings_that_cannot_run_here_are_refused(open_at: Open) -> None:
    page = open_at("#run&temperature=4&lane1=nonsense:sequoia:")
    error = page.locator("#pg-view [data-part=error]")
    expect(error).to_contain_text("Lane 1: tree: 'nonsense'")
    open_more(page)
    expect(page.locator("#pg-temperature input")).to_have_value("0")
