"""The command view_cost.py, which measures how much time the page costs. The tests cover its
options, its statistics and one short round of measurements."""

from __future__ import annotations

import film_cost
import pytest
import tree_cost
import view_cost
from cost_rounds import Spread, interleaved, ratios, spread
from paint_cost import paint_times
from playwright.sync_api import Browser
from running_app import App
from two_checkouts import Checkout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--rounds", "0", "--live"], "--rounds 0 is too few; give 1 or more"),
        (["--against", "."], "add --live, --paint or --film"),
        (["--live", "--against", "nowhere"], "--against nowhere: there is no such folder"),
    ],
)
def test_wrong_options_are_explained(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        view_cost.parsed(arguments)
    assert reason in capsys.readouterr().err


def test_a_ratio_is_taken_within_each_round() -> None:
    assert spread([3, 1, 8, 2]) == Spread(2.5, 1, 8)
    # The ratio of the medians would be 1, because both medians are 20.
    assert ratios([2, 20, 30], [1, 40, 20]) == Spread(1.5, 0.5, 2)
    assert str(ratios([2, 20, 30], [1, 40, 20])) == "1.50 (0.50 to 2.00)"
    with pytest.raises(ValueError, match="longer"):
        ratios([1], [1, 2])


def test_each_round_reverses_the_order_and_the_first_round_is_left_out() -> None:
    order: list[str] = []

    def way(name: str) -> dict[str, float]:
        order.append(name)
        return {"ms": len(order)}

    found = interleaved({"new": lambda: way("new"), "old": lambda: way("old")}, 2)
    assert order == ["old", "new", "new", "old", "old", "new"]
    assert found == {"new": {"ms": [3, 6]}, "old": {"ms": [4, 5]}}


@pytest.mark.nightly
def test_the_measurements_run_on_this_checkout(
    browser: Browser, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_cost, "MESSAGES", 6)
    checkout = Checkout(view_cost.ROOT)
    try:
        address = checkout.run_page()
        found = tree_cost.live_cost(browser, address)
    finally:
        checkout.close()
    monkeypatch.setattr(film_cost, "SHIFT_SECONDS", 2.0)
    monkeypatch.setattr(film_cost, "FILM_SECONDS", 1.0)
    seen = film_cost.film_cost(browser, app.url)
    assert seen["frames a second in slow motion"] > 0
    times = paint_times(browser, app.url)
    assert times["recording drawn"] >= times["first contentful paint"]
    assert min(found.values()) > 0
    assert min(times.values()) > 0
