"""Times and machines in words."""

from __future__ import annotations

import pytest

from ui.words.figures import as_shown, machine_of, time_words

PER_SECOND = {"µs": 1e6, "ms": 1e3, "s": 1}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 ms"),
        (0.0009994, "999 µs"),
        (0.0066, "6.6 ms"),
        (0.9996, "1.00 s"),
    ],
)
def test_the_unit_of_a_time_fits_the_rounded_value(seconds: float, words: str) -> None:
    assert time_words(seconds) == words
    value, unit = words.split()
    assert as_shown(seconds) == pytest.approx(float(value) / PER_SECOND[unit])


def test_a_shipped_machine_is_named_with_an_article() -> None:
    """The name of any other profile is in quotation marks."""
    assert machine_of("A100, Llama-2-7B with 68M, CUDA graphs") == "the A100"
    for name in ("my card", "A100, mine"):
        assert machine_of(name) == f"“{name}”"
