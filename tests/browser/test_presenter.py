"""Presenter mode in a real Chromium: its keys, and whether it can be read from the back of a
room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from view_pages import opened, part, settle, watch

SCALE = 2.34  # the magnification (see presenter.js), which computed styles do not include
# In this step, two children of the root are rejected. The third is accepted, and then one of its
# own children.
STEP = 8
PARTS = (".sq-present-head", ".sq-caption", ".sq-tree-split", ".sq-walk-card", ".sq-present-foot")
SIZES = """() => { const found = {};
    const dialog = document.querySelector('.sq-present');
    const walker = document.createTreeWalker(dialog, 4);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || !parent.checkVisibility()) continue;
      const size = parseFloat(getComputedStyle(parent).fontSize) * 2.34;
      found[parent.closest('[class]').getAttribute('class')] = size;
    }
    return found; }"""


@pytest.fixture
def page(tab: Page, canned: dict[str, Any]) -> Iterator[Page]:
    """The Decode view with a run above temperature 0, paused at a step."""
    for page in opened(tab, "decode", "?bare"):
        watch(page, canned["16"], STEP)
        yield page


def enter(page: Page) -> None:
    page.keyboard.press("p")
    settle(page)


def shown(page: Page, selector: str) -> Any:
    return page.locator(f".sq-present {selector}")


def size(page: Page, selector: str) -> float:
    font = "node => parseFloat(getComputedStyle(node).fontSize)"
    return SCALE * shown(page, selector).first.evaluate(font)


def test_a_key_and_a_button_enter_and_escape_leaves(page: Page) -> None:
    """The button and the key P open presenter mode. Escape closes it, and so does P."""
    assert page.locator(".sq-present").count() == 0
    page.click(part("present"))
    settle(page)
    expect(page.locator(".sq-present")).to_be_visible()
    page.keyboard.press("Escape")
    settle(page)
    expect(page.locator(".sq-present")).to_be_hidden()
    enter(page)
    expect(page.locator(".sq-present")).to_be_visible()
    page.keyboard.press("p")
    settle(page)
    expect(page.locator(".sq-present")).to_be_hidden()


def test_it_fills_the_window_without_forms_or_other_panels(page: Page) -> None:
    enter(page)
    box = page.locator(".sq-present").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 1280, 800)
    fields = ":is(input, select, textarea, [contenteditable])"
    assert [one for one in shown(page, fields).all() if one.is_visible()] == []
    for kept in (".sq-caption", ".sq-tree-svg", ".sq-beat-pass", ".sq-walk-card"):
        expect(shown(page, kept)).to_be_visible()
    drawn = shown(page, ".sq-present-page").bounding_box()
    assert drawn["height"] <= 800


@pytest.mark.nightly
def test_no_text_is_small(page: Page) -> None:
    enter(page)
    for _ in range(6):
        sizes = page.evaluate(SIZES)
        assert min(sizes.values()) >= 24, sizes
        page.keyboard.press(",")
        settle(page)
    for selector in (".sq-caption", ".sq-prob dt", ".sq-prob-value", ".sq-meter-u"):
        assert size(page, selector) >= 32, selector
    for selector in (".sq-n-text", ".sq-beat-numbers text"):
        assert size(page, selector) >= 28, selector


@pytest.mark.nightly
def test_the_path_is_wide_and_edges_have_contrast(page: Page) -> None:
    enter(page)
    width = "node => parseFloat(getComputedStyle(node).strokeWidth)"
    accepted = shown(page, '.sq-edge[data-s="accepted"]').first
    assert accepted.evaluate(width) * SCALE >= 6
    for theme in (False, True):
        page.evaluate("dark => document.body.classList.toggle('dark', dark)", theme)
        settle(page)
        ground = page.locator(".sq-present").evaluate(
            "node => getComputedStyle(node).backgroundColor"
        )
        strokes = shown(page, ".sq-edge").evaluate_all(
            "nodes => [...new Set(nodes.map((node) => getComputedStyle(node).stroke))]"
        )
        assert strokes
        for stroke in strokes:
            assert contrast(stroke, ground) >= 3, (stroke, ground)


def test_keys_change_the_frame_and_the_step(page: Page) -> None:
    enter(page)
    place = shown(page, ".sq-present-place")
    assert place.inner_text().startswith("step 9 of")
    page.keyboard.press("ArrowRight")
    settle(page)
    assert place.inner_text().startswith("step 10 of")
    before = shown(page, ".sq-caption").inner_text()
    page.keyboard.press(",")
    settle(page)
    assert shown(page, ".sq-caption").inner_text() != before
    page.keyboard.press("Escape")
    settle(page)
    assert page.evaluate("stage.store.at") == STEP + 1


def test_on_a_phone_it_is_large_fits_and_has_buttons(page: Page) -> None:
    """On a phone held upright, the parts of presenter mode stand one below another, in the order of
    PARTS. On a phone held upright or sideways, all parts fit. Buttons replace the keys."""
    page.set_viewport_size({"width": 390, "height": 844})
    enter(page)
    plain = "node => parseFloat(getComputedStyle(node).fontSize)"
    for selector, least in ((".sq-present-number", 36), (".sq-caption", 22), (".sq-prob dt", 18)):
        assert shown(page, selector).first.evaluate(plain) >= least, selector
    tops = [shown(page, one).bounding_box()["y"] for one in PARTS]
    assert tops == sorted(tops)
    for width, height in ((390, 844), (844, 390)):
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        settle(page)
        for one in PARTS:
            box = shown(page, one).bounding_box()
            assert 0 <= box["x"] <= width - box["width"], one
            assert 0 <= box["y"] <= height - box["height"], one
    page.set_viewport_size({"width": 390, "height": 844})
    settle(page)
    shown(page, "[aria-label='One step forward']").click()
    settle(page)
    assert shown(page, ".sq-present-place").inner_text().startswith("step 10 of")
    shown(page, "[aria-label='Leave presenter mode']").click()
    settle(page)
    expect(page.locator(".sq-present")).to_be_hidden()


def test_it_does_not_open_without_a_step(tab: Page) -> None:
    for page in opened(tab, "decode", "?bare"):
        expect(page.locator(part("present"))).to_be_disabled()
        page.keyboard.press("p")
        assert page.locator(".sq-present").count() == 0


def contrast(one: str, other: str) -> float:
    """The WCAG 2 contrast ratio of two colours, each given as "rgb(r, g, b)"."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
