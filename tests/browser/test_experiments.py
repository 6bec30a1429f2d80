"""The Experiments tab in a real browser: a recorded or missing result."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from running_app import open_view

from sequoia.experiments.runner import EXPERIMENTS

VIEW = "document.querySelector('#xp-view .sq-stage').view.state"


Part = Callable[[str], Locator]


@pytest.fixture
def page(visit: Callable[..., Page]) -> Page:
    """The tab on a phone."""
    page = visit(has_form=False, viewport={"width": 390, "height": 844})
    open_view(page, "Experiments")
    return page


@pytest.fixture
def part(page: Page) -> Part:
    return lambda name: page.locator(f"#xp-view [data-part={name}]")


def test_a_recorded_result_is_shown_if_there_is_one(page: Page, part: Part) -> None:
    entries = page.locator("#xp-view [data-name]")
    expect(entries).to_have_count(len(EXPERIMENTS))
    expect(part("head")).to_contain_text(next(iter(EXPERIMENTS.values())).question)

    # a panel that has nothing to show is hidden
    page.wait_for_function(f"{VIEW}.recorded.size > 0")
    is_shown = page.evaluate(f"{VIEW}.result !== undefined")
    expect(part("figure")).to_be_visible(visible=is_shown)
    expect(part("missing")).to_be_visible(visible=not is_shown)
    expect(page.locator("#xp-view [data-part=table]")).to_be_visible(visible=is_shown)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
