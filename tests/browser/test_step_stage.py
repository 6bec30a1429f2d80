"""The stage that shows a single step, on the test page tests/browser/pages/step.html."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect
from view_pages import opened, part, settle

CARD = part("walk-card")


@pytest.fixture
def page(tab: Any) -> Iterator[Any]:
    """A step at temperature 1 whose walk goes down five levels."""
    for page in opened(tab, "step"):
        ready(page)
        yield page


def ready(page: Any) -> None:
    page.wait_for_function("window.stage")
    settle(page)


def turn_to(page: Any, phase: str) -> None:
    page.evaluate("phase => stage.player.turnTo(phase)", phase)
    settle(page)


def events(page: Any, name: str) -> list[Any]:
    found: list[Any] = page.evaluate("name => events.filter(one => one.name === name)", name)
    return found


def test_the_card_shows_nothing_of_the_target_before_the_targets_pass(page: Any) -> None:
    turn_to(page, "guess")
    page.hover(".sq-n[data-key=n1] rect", force=True)
    settle(page)
    expect(page.locator(f"{CARD} .sq-state")).to_have_text("guessed")
    expect(page.locator(f"{CARD} [data-which=p] .sq-prob-value")).to_have_text("–")
    expect(page.locator(f"{CARD} .sq-meter")).to_be_hidden()


def test_press_and_hover_events_have_the_node(page: Any) -> None:
    page.hover(".sq-n[data-key=n1] rect", force=True)
    page.click(".sq-n[data-key=n1] rect", force=True)
    page.mouse.move(0, 0)
    assert [one["node"] for one in events(page, "press")] == [1]
    assert [one["node"] for one in events(page, "hover")][:1] == [1]


def test_the_card_has_no_residual_bars_at_temperature_0(page: Any) -> None:
    page.evaluate("showStep(runs.greedy, 4)")
    turn_to(page, "walk")
    expect(page.locator(f"{CARD} .sq-prob").first).to_be_visible()
    expect(page.locator(f"{CARD} .sq-left-rows")).to_be_hidden()
