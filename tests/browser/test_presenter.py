"""Presenter mode in a real Chromium: its keys, and whether it can be read from the back of a
room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from view_pages import made, opened, part, settle, watch

# In this step, two children of the root are rejected. The third is accepted, and then one of its
# own children.
STEP = 8
PARTS = (".sq-present-head", ".sq-present-caption", ".sq-present-tree", ".sq-present-text")
# elements with more in them than they show, and those that reach out of the window
CUT = """() => { const found = [];
    const dialog = document.querySelector('.sq-present');
    const isOut = ({ left, top, right, bottom }) =>
      left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1;
    for (const node of [dialog, ...dialog.querySelectorAll('*')]) {
      if (!node.checkVisibility()) continue;
      const { clientWidth, clientHeight, scrollWidth, scrollHeight } = node;
      const box = node.getBoundingClientRect();
      const isOver = (clientWidth && scrollWidth > clientWidth + 1) ||
        (clientHeight && scrollHeight > clientHeight + 1);
      if ((isOver && node instanceof HTMLElement) || (box.width && box.height && isOut(box)))
        found.push(node.getAttribute('class') ?? node.tagName);
    }
    return found; }"""


@pytest.fixture
def page(tab: Page, canned: dict[str, Any]) -> Iterator[Page]:
    """The Run view with a run above temperature 0, paused at a step."""
    for page in opened(tab, "run"):
        watch(page, canned["16"], STEP)
        yield page


def enter(page: Page) -> None:
    page.keyboard.press("p")
    settle(page)


def shown(page: Page, selector: str) -> Any:
    return page.locator(f".sq-present {selector}")


def test_a_key_and_a_button_enter_and_escape_leaves(page: Page) -> None:
    """The button and the key P open presenter mode. Escape closes it, and so does P."""
    assert page.locator(".sq-present").count() == 0
    page.click("[data-part=view] > summary")
    page.click(part("present"))
    settle(page)
    expect(page.locator(".sq-present")).to_be_visible()
    fields = ":is(input, select, textarea, [contenteditable])"
    assert [one for one in shown(page, fields).all() if one.is_visible()] == []
    for kept in (*PARTS, ".sq-present-totals"):
        expect(shown(page, kept)).to_be_visible()
    page.keyboard.press("Escape")
    settle(page)
    expect(page.locator(".sq-present")).to_be_hidden()
    enter(page)
    expect(page.locator(".sq-present")).to_be_visible()
    page.keyboard.press("p")
    settle(page)
    expect(page.locator(".sq-present")).to_be_hidden()


def runs(canned: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """Runs with small, large, deep and wide trees, and a step of each."""
    yield canned["16"], STEP
    yield canned["64"], 3
    yield canned["512"], 3
    deep = made([-1, *range(59)], " internationalization", path=list(range(60)))
    wide = made([-1] + [0] * 255, "\u9577\u3044\u6587" * 8, path=[0, 200])
    yield deep, 0
    yield {**wide, "run": "wide"}, 0


def test_nothing_is_cut(page: Page, canned: dict[str, Any]) -> None:
    """In slow motion and at the result, every part is whole and inside the window. The last token
    of the path is written with its numbers, and the text ends with the last token."""
    enter(page)
    page.set_viewport_size({"width": 1280, "height": 720})
    for run, step in runs(canned):
        watch(page, run, step)
        settle(page)
        for _ in range(5):
            assert page.evaluate(CUT) == []
            page.keyboard.press(",")
            settle(page)
        watch(page, run, step)
        assert shown(page, ".sq-n").count() >= 2
        last = run["steps"][step]["text"][-1].strip()
        assert shown(page, ".sq-present-text").first.inner_text().strip().endswith(last)


def test_the_path_has_the_numbers_of_its_nodes(page: Page) -> None:
    """At the result, the path is the root, two accepted nodes and the token from the target. When a
    second child is rejected, that child is its end, with the residual p that the caption names."""
    enter(page)
    lines = shown(page, ".sq-n:visible")
    states = "nodes => nodes.map((node) => node.dataset.s)"
    path = page.evaluate("stage.store.view().path.length")
    assert lines.evaluate_all(states)[1:path] == ["accepted"] * (path - 1)
    assert lines.count() == path + 1
    for number in ("q ", "p "):
        assert number in lines.nth(1).text_content()
    while lines.last.get_attribute("data-s") != "rejected":
        page.keyboard.press(",")
        settle(page)
    assert lines.count() == 2
    trial = page.evaluate("stage.store.view().trials[1]")
    assert lines.last.text_content().endswith("residual")
    assert f"p {trial['p']:.2g}" in lines.last.text_content()


def test_keys_change_the_frame_and_the_step(page: Page) -> None:
    enter(page)
    place = shown(page, ".sq-present-place")
    assert place.inner_text().startswith("step 9 of")
    page.keyboard.press("ArrowRight")
    settle(page)
    assert place.inner_text().startswith("step 10 of")
    before = shown(page, ".sq-present-caption").inner_text()
    page.keyboard.press(",")
    settle(page)
    assert shown(page, ".sq-present-caption").inner_text() != before
    page.keyboard.press("Escape")
    settle(page)
    assert page.evaluate("stage.store.at") == STEP + 1


def test_on_a_phone_it_fits_and_has_buttons(page: Page) -> None:
    """Nothing is cut on a phone held sideways. Buttons replace the keys."""
    enter(page)
    page.set_viewport_size({"width": 844, "height": 390})
    settle(page)
    settle(page)
    assert page.evaluate(CUT) == []
    page.set_viewport_size({"width": 390, "height": 844})
    settle(page)
    shown(page, "[aria-label='One step forward']").click()
    settle(page)
    assert shown(page, ".sq-present-place").inner_text().startswith("step 10 of")
    shown(page, "[aria-label='Leave presenter mode']").click()
    settle(page)
    expect(page.locator(".sq-present")).to_be_hidden()


def test_it_does_not_open_without_a_step(tab: Page) -> None:
    for page in opened(tab, "run"):
        expect(page.locator(part("present"))).to_be_disabled()
        page.keyboard.press("p")
        assert page.locator(".sq-present").count() == 0
