"""The command view_cost.py, which measures how much time the page costs. The tests cover its
options, its statistics and one short round of measurements."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import frame_cost
import pytest
import tree_cost
import view_cost
from cost_rounds import Spread, at_share, in_words, interleaved, ratios, spread
from paint_cost import paint_times
from playwright.sync_api import Browser
from running_app import App
from two_checkouts import Checkout, why_not_a_checkout


def test_help_names_every_option() -> None:
    command = [sys.executable, view_cost.__file__, "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    options = (
        "--levels",
        "--live",
        "--pan",
        "--paint",
        "--frames",
        "--film",
        "--against FOLDER",
        "--rounds",
        "--nodes",
        "--tokens",
    )
    assert [option for option in options if option not in shown] == []
    # decode_cost imports torch, which would delay --help
    assert "decode_cost" not in sys.modules


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--rounds", "0", "--live"], "--rounds 0 is too few; give 1 or more"),
        (["--against", "."], "add --live, --pan, --paint, --frames or --film"),
        (["--pan", "--against", "nowhere"], "--against nowhere: there is no such folder"),
    ],
)
def test_wrong_options_are_explained(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        view_cost.parsed(arguments)
    assert reason in capsys.readouterr().err


def test_a_checkout_needs_an_app_and_a_new_or_old_test_page(tmp_path: Path) -> None:
    assert why_not_a_checkout(tmp_path) == "it has no app.py"
    (tmp_path / "app.py").touch()
    assert "demo.html" in why_not_a_checkout(tmp_path)
    old_page = tmp_path / "ui/canvas/demo.html"
    old_page.parent.mkdir(parents=True)
    old_page.touch()
    assert why_not_a_checkout(tmp_path) == ""
    assert why_not_a_checkout(view_cost.ROOT) == ""


def test_a_ratio_is_taken_within_each_round() -> None:
    assert spread([3, 1, 8, 2]) == Spread(2.5, 1, 8)
    # The ratio of the medians would be 1, because both medians are 20.
    assert ratios([2, 20, 30], [1, 40, 20]) == Spread(1.5, 0.5, 2)
    assert str(ratios([2, 20, 30], [1, 40, 20])) == "1.50 (0.50 to 2.00)"
    with pytest.raises(ValueError, match="longer"):
        ratios([1], [1, 2])


@pytest.mark.parametrize(("share", "value"), [(0.5, 10), (0.95, 19), (0.96, 20), (1, 20)])
def test_at_share_finds_a_percentile(share: float, value: int) -> None:
    """The smallest value v such that at least the fraction `share` of the values is at most v."""
    assert at_share(list(range(20, 0, -1)), share) == value


def test_each_round_reverses_the_order_and_the_first_round_is_left_out() -> None:
    order: list[str] = []

    def way(name: str) -> dict[str, float]:
        order.append(name)
        return {"ms": len(order)}

    found = interleaved({"new": lambda: way("new"), "old": lambda: way("old")}, 2)
    assert order == ["old", "new", "new", "old", "old", "new"]
    assert found == {"new": {"ms": [3, 6]}, "old": {"ms": [4, 5]}}


def test_a_table_has_ratios_only_if_there_are_two_checkouts() -> None:
    new = {"ms": [150.0, 30.0, 2.0]}
    [line] = in_words({"new": new})
    assert line.split() == ["ms", "30.0", "(2.00", "to", "150)"]
    [line] = in_words({"new": new, "old": new})
    assert line.endswith("new/old 1.00 (1.00 to 1.00)")


@pytest.mark.nightly
def test_the_measurements_run_on_this_checkout(
    browser: Browser, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_cost, "MESSAGES", 6)
    checkout = Checkout(view_cost.ROOT)
    try:
        address = checkout.decode_page()
        found = tree_cost.live_cost(browser, address) | tree_cost.pan_cost(browser, address)
    finally:
        checkout.close()
    monkeypatch.setattr(frame_cost, "SECONDS", 0.5)
    monkeypatch.setattr(frame_cost, "TOKENS", "16")
    times = paint_times(browser, app.url)
    found |= frame_cost.frame_times(browser, app.url)
    assert times["recording drawn"] >= times["first contentful paint"]
    assert min(found.values()) > 0
    assert min(times.values()) > 0
