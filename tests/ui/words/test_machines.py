"""Names of machines inside a sentence."""

from __future__ import annotations

import pytest

from ui.words.machines import machine_of, with_article


def test_a_shipped_machine_is_named_with_an_indefinite_article() -> None:
    """The name of any other profile is in quotation marks."""
    assert machine_of("A100, Llama-2-7B with 68M, CUDA graphs") == "an A100"
    for name in ("my card", "A100, mine"):
        assert machine_of(name) == f"“{name}”"


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("A100", "an A100"),
        ("8-core laptop", "an 8-core laptop"),
    ],
)
def test_a_machine_gets_the_right_article(name: str, named: str) -> None:
    assert with_article(name) == named
