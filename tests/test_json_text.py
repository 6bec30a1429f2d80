"""JSON text that is written in pieces equals the text from `json.dumps`. No piece is large, because
other threads wait while a piece is written."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from sequoia import validate_input
from sequoia.validate_input import json_text

ATOMS: tuple[Any, ...] = (1, 2.5, None, True, 'é"\\\n', "a" * 300, 10**30, -0.0, "\ud800", "")


def any_value(choice: random.Random, levels: int) -> Any:
    if levels == 0 or choice.random() < 0.3:
        return choice.choice(ATOMS)
    items = [any_value(choice, levels - 1) for _ in range(choice.randrange(24))]
    if choice.random() < 0.5:
        return choice.choice([list, tuple])(items)
    return {f'"{i}é': item for i, item in enumerate(items)}


@pytest.mark.parametrize("at_once", [0, 5, 50, 1000])
@pytest.mark.parametrize("is_ascii", [True, False])
def test_pieces_make_the_same_text(
    at_once: int, is_ascii: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validate_input, "_AT_ONCE", at_once)
    choice = random.Random(1)
    for _ in range(8):
        value = any_value(choice, 4)
        whole = json.dumps(value, ensure_ascii=is_ascii, separators=(",", ":"))
        assert json_text(value, is_ascii=is_ascii) == whole


@pytest.mark.parametrize(
    "value",
    [
        [0.5] * 300_000,
        {str(i): "word" for i in range(100_000)},
        {"lanes": [{"run": {"steps": [{"q": [0.25] * 900, "i": i} for i in range(300)]}}]},
    ],
)
def test_a_large_value_is_written_in_small_pieces(value: Any) -> None:
    pieces = [*validate_input._json_pieces(value, json.JSONEncoder().encode)]
    assert max(map(len, pieces)) < len("".join(pieces)) / 10


def test_infinity_and_nan_are_refused() -> None:
    for value in ([float("inf")], {"a": [1.0] * 50_000 + [float("nan")]}):
        with pytest.raises(ValueError, match="not JSON compliant"):
            json_text(value, is_ascii=True)
