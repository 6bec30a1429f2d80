"""On paper: the result in its colours and at full width, without forms and controls."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("tab", "form", "result"), [("Decode", "pg", "headline"), ("Race", "rc", "lanes")]
)
def test_the_result_is_printed_without_its_form(
    visit: Callable[..., Page], tab: str, form: str, result: str
) -> None:
    page = visit()
    page.get_by_role("tab", name=tab, exact=True).click()
    shown = page.locator(f"#{form}-view [data-part={result}]")
    expect(shown).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(f"#{form}-side")).to_be_hidden()
    expect(page.locator("[role=tab]").first).to_be_hidden()
    expect(page.locator(f"#{form}-view .sq-transport")).to_be_hidden()
    expect(shown).to_be_visible()
    box = page.locator(f"#{form}-view .sq-stage").bounding_box()
    assert box["x"] == 0
    assert box["width"] == 1280
    style = shown.evaluate("node => getComputedStyle(node).printColorAdjust")
    assert style == "exact"
