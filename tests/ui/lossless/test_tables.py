"""The picture of a losslessness test: the names of its outcomes, its CSV file, and what is marked.
A broken decoder is called broken in the name of the file and in each of its lines."""

from __future__ import annotations

from typing import Any

import pytest
from visits import csv_files

from ui.lossless.tables import is_far, name_of, shown_test

ROWS: list[dict[str, Any]] = [
    {"tokens": [" a", "b"], "rest": "", "share": 0.5, "seen": 49},
    {"tokens": ["c"], "rest": "other", "share": 0.3, "seen": 33},
    {"tokens": [], "rest": "rare", "share": 0.2, "seen": 18},
]
TEST: dict[str, Any] = {
    "decoder": "correct",
    "broken": None,
    "going": False,
    "draws": 100,
    "wanted": 100,
    "rows": ROWS,
    "count": 3,
    "distance": 0.02,
    "floor": 0.04,
    "p_value": 0.8,
    "kind": "fits",
    "verdict": "No difference found.",
    "finds": [{"key": "x", "label": "<a bug>", "distance": 0.2, "power": 0.1, "hides": "why"}],
}
BROKEN = {**TEST, "decoder": "broken on purpose: the walk's u", "broken": "walk-u"}


def saved(markup: str) -> tuple[str, list[list[str]]]:
    """The name and the rows of the first file, which has the outcomes."""
    return next(iter(csv_files(markup).items()))


def test_outcomes_are_named_by_their_tokens_and_by_what_may_follow() -> None:
    assert name_of(ROWS[0]) == (["·a", "b"], "")
    assert name_of(ROWS[1]) == (["c"], "then any other")
    assert name_of({**ROWS[1], "tokens": []})[1] == "any other"
    assert name_of({**ROWS[1], "rest": "other more"})[1] == "then any other, and rarer ones"
    assert name_of({"tokens": ["\n", "  ", "a "], "rest": ""})[0] == ["⏎", "··", "a·"]


@pytest.mark.parametrize(
    ("test", "name", "decoder"),
    [
        (TEST, "sequoia-lossless.csv", "correct"),
        (BROKEN, "sequoia-lossless-broken-on-purpose-walk-u.csv", BROKEN["decoder"]),
    ],
)
def test_the_file_names_the_decoder(test: dict[str, Any], name: str, decoder: str) -> None:
    found, (head, *lines) = saved(shown_test(test))
    assert found == name
    assert lines[0] == ["·a b", "0.5", "50.0", "49", decoder]
    assert {len(line) for line in lines} == {len(head)}
    assert all(line[-1] == decoder for line in lines)


def test_a_test_that_goes_on_has_no_file() -> None:
    assert shown_test({**TEST, "going": True, "finds": []}).count("download=") == 0


def test_only_some_outcomes_are_shown_and_all_are_in_the_file() -> None:
    many = {**TEST, "rows": ROWS * 20, "count": 60}
    shown = shown_test(many)
    assert shown.count("<code>b</code>") == 8  # of 24 rows
    assert "36 more outcomes in the CSV file" in shown
    assert len(saved(shown)[1]) == 61


@pytest.mark.parametrize(
    ("share", "seen", "far"),
    [(0.5, 515, False), (0.5, 547, False), (0.5, 548, True), (0.5, 452, True), (0, 1, True)],
)
def test_a_row_is_marked_if_it_is_off_by_three_standard_deviations(
    share: float, seen: int, far: bool
) -> None:
    assert is_far({"share": share, "seen": seen}, 1000) is far  # one deviation is 15.8
