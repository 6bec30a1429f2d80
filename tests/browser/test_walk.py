"""The Walk tab. A toy example is edited, stepped through and run many times with the keyboard.
Invalid probabilities are refused. A step of a recorded run is shown."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from running_app import open_view


@pytest.fixture
def page(visit: Callable[..., Page]) -> Page:
    page = visit(has_form=False, reduced_motion="reduce")  # 10,000 runs in one frame
    open_view(page, "Walk")
    expect(part(page, "caption")).to_be_visible(timeout=30_000)
    return page


def part(page: Page, name: str) -> Locator:
    return page.locator(f".sq-walk [data-part={name}]")


def typed(page: Page, field: str, value: str) -> None:
    part(page, field).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type(value)


def test_a_toy_is_walked_edited_and_run(page: Page) -> None:
    # step forwards and backwards through the walk
    caption = part(page, "caption")
    page.get_by_role("button", name="walk", exact=True).click()
    expect(caption).to_contain_text(
        "is rejected. A chain, with one guess per position, would end its step here with 1 token"
    )
    expect(part(page, "moment")).to_contain_text(re.compile("and q loses “.+”"))
    part(page, "draw-again").focus()
    page.keyboard.press(".")
    expect(caption).to_contain_text("“cat”")
    page.keyboard.press(",")
    expect(caption).to_contain_text(
        "is rejected. A chain, with one guess per position, would end its step here with 1 token"
    )
    before = caption.text_content()
    page.keyboard.press("n")
    expect(caption).not_to_have_text(before)

    part(page, "more").locator("summary").first.click()

    # raise a bar of p with the keyboard: the others shrink, so the sum stays 1
    bar = page.get_by_label("p of cat, as a bar")
    bar.focus()
    page.keyboard.press("ArrowRight")
    expect(part(page, "p0")).to_have_value("0.41")
    expect(part(page, "sum-p")).to_have_text("sum 1")
    expect(part(page, "preset")).to_have_value("own")

    # 10,000 runs of the step, compared with the exact result
    part(page, "run-many").focus()
    page.keyboard.press("Enter")
    expect(part(page, "count")).to_have_text("10,000 steps", timeout=20_000)
    cells = part(page, "facts").locator("tbody tr").first.locator("td")
    expect(cells.nth(2)).to_have_text("0")
    assert float(cells.nth(0).text_content()) < 0.03  # sampling noise is about 0.007
    page.wait_for_function("location.hash.startsWith('#learn/walk&p=0.41')")

    # on a chain, Traversal is block verification, and exceeds the limit of node-by-node
    # verification; on an uneven tree it does not exceed that limit
    part(page, "preset").select_option("block-passes")
    row = part(page, "verifiers").locator("[data-verifier=traversal]")
    expect(row).to_contain_text("Traversal (block verification)")
    expect(row).to_contain_text("2.04upper limit 1.96, exceeded", timeout=20_000)
    part(page, "preset").select_option("traversal-below")
    expect(part(page, "children0")).to_be_hidden()
    expect(row).to_contain_text("2.06upper limit 2.25", timeout=20_000)
    page.wait_for_function("location.hash.includes('shape=uneven')")


def test_invalid_probabilities_are_refused_but_stay_in_the_field(page: Page) -> None:
    """A message says what is wrong. The walk still shows the last valid toy."""
    caption = part(page, "caption").text_content()
    part(page, "more").locator("summary").first.click()
    for value, words in (
        ("-0.2", "p of “cat” is -0.2, which is below 0"),
        ("NaN", "p of “cat” is “NaN”"),
        ("", "p of “cat” is empty"),
        ("0.6", "p sums to 1.2; a distribution sums to 1."),
    ):
        typed(page, "p0", value)
        if not value:
            page.keyboard.press("Delete")
        expect(part(page, "problem-p")).to_contain_text(words)
        expect(part(page, "p0")).to_have_value(value)
        expect(part(page, "p0")).to_have_attribute("aria-invalid", "true")
    assert part(page, "caption").text_content() == caption
    expect(part(page, "p1")).to_have_value("0.3")
    part(page, "scale-p").click()
    expect(part(page, "problem-p")).to_be_hidden()
    expect(part(page, "p0")).to_have_value("0.5")


def test_a_step_of_a_recorded_run_is_shown_and_linked(page: Page) -> None:
    part(page, "real").click()
    part(page, "run").select_option("specinfer")
    expect(part(page, "step")).to_be_visible(timeout=20_000)
    expect(part(page, "moment")).to_contain_text("p and q of the next token")
    typed(page, "step", "99")
    page.keyboard.press("Enter")
    expect(part(page, "problem-step")).to_contain_text("“99” is not a step; enter a whole number")
    typed(page, "step", "3")
    page.keyboard.press("Enter")
    expect(part(page, "problem-step")).to_be_hidden()
    # the link counts steps from 0, the field from 1
    page.wait_for_function("location.hash === '#learn/walk&example=specinfer&step=2'")
    expect(part(page, "runs")).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 800})  # the view is drawn anew
    page.reload()
    expect(part(page, "step")).to_have_value("3", timeout=30_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
