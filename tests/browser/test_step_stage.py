"""The stage that shows a single step, on the test page tests/browser/pages/step.html."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import make_canned
import pytest
from playwright.sync_api import expect
from view_pages import opened, part, settle

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree

NODES = "[...document.querySelectorAll('.sq-n')].filter(g => g.style.display !== 'none')"
STATES = f"{NODES}.map(g => g.dataset.s)"
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


def test_a_step_is_shown_at_its_result_first(page: Any) -> None:
    expect(page.locator(part("caption"))).to_contain_text("6 tokens from one step.")
    expect(page.locator(part("phase-time"))).to_have_text("the step took 18.0 ms (recorded)")
    assert page.evaluate(STATES).count("accepted") == 5
    expect(page.locator(part("phase-result"))).to_have_attribute("aria-pressed", "true")


def test_the_pictures_follow_the_order_of_the_step(page: Any) -> None:
    """The draft adds nodes level by level, the target checks all of them, and the walk compares u
    with p/q."""
    turn_to(page, "guess")
    assert set(page.evaluate(STATES)) == {"root", "drafted"}
    few = page.evaluate(f"{NODES}.length")
    page.evaluate("stage.player.turn(1)")
    settle(page)
    assert page.evaluate(f"{NODES}.length") > few
    turn_to(page, "check")
    assert set(page.evaluate(STATES)) == {"root", "checked"}
    turn_to(page, "walk")
    assert page.evaluate(STATES).count("accepted") == 1
    expect(page.locator(CARD)).to_contain_text("trial 1 of 5")
    expect(page.locator(f"{CARD} .sq-meter")).to_contain_text("accepted below p/q")


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


def with_rejections() -> tuple[dict[str, Any], int]:
    """A run at temperature 1 that records what rejections leave of p and q, and the index of its
    step with the most rejections."""
    tree = best_tree(Acceptance(make_canned.RATES), 16)
    found = json.loads(
        make_canned.run(make_canned.Words(make_canned.TEXT), tree, 12, 3, "").to_json()
    )
    rejections = [
        sum(not trial["accepted"] for trial in step["verdict"]["trials"]) for step in found["steps"]
    ]
    return found, rejections.index(max(rejections))


def test_the_card_shows_what_is_left_of_p_and_q(page: Any) -> None:
    """After a rejection, several tokens are left to draw from. The last picture marks the one that
    was drawn."""
    run, at = with_rejections()
    page.evaluate("([run, at]) => showStep(run, at)", [run, at])
    turn_to(page, "guess")
    expect(page.locator(part("residual"))).to_be_hidden()
    turn_to(page, "walk")
    trial, residual = (
        run["steps"][at]["verdict"]["trials"][0],
        run["steps"][at]["residual_heads"][0],
    )
    expect(page.locator(f"{CARD} [data-mark=dropped]")).to_have_count(1)
    expect(page.locator(f"{CARD} .sq-left-note")).to_contain_text(
        f"The remaining {trial['mass']:.0%} of p and "
    )
    shares = page.evaluate(
        "[...document.querySelectorAll('.sq-left-bar[data-which=p]')].map(bar =>"
        " [...bar.children].reduce((sum, part) => sum + parseFloat(part.style.width), 0))"
    )
    assert shares[:5] == pytest.approx([100 * share for share in residual["p"][:5]], abs=0.01)
    assert sum(shares) == pytest.approx(100, abs=0.1)
    page.evaluate("stage.player.turn(1)")
    settle(page)
    expect(page.locator(f"{CARD} .sq-left-title")).to_have_text("What is left of p and q")
    page.evaluate("stage.player.stand(null)")
    settle(page)
    expect(page.locator(f"{CARD} [data-mark=drawn]")).to_have_count(1)
    card, row = (page.locator(s).first.bounding_box() for s in (CARD, f"{CARD} .sq-left-row"))
    assert card["width"] <= 281
    assert row["x"] + row["width"] <= card["x"] + card["width"]


def test_the_card_says_that_p_is_one_token_at_temperature_0(page: Any) -> None:
    page.evaluate("showStep(runs.greedy, 4)")
    turn_to(page, "walk")
    expect(page.locator(f"{CARD} .sq-left-note")).to_contain_text("all of p is on a single token")
    expect(page.locator(f"{CARD} .sq-left-rows")).to_be_hidden()
