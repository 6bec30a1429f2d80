"""Keyword arguments and classes that were renamed still work under their old names."""

from __future__ import annotations

import pytest

import sequoia
from sequoia.renamed_keywords import renamed_keywords


@renamed_keywords(policy="params", tell="on_progress")
def example(prompt: str, params: int = 0, on_progress: str = "") -> tuple[str, int, str]:
    """Returns its arguments."""
    return prompt, params, on_progress


def test_a_function_accepts_old_and_new_keywords() -> None:
    assert example("a", policy=1, tell="b") == ("a", 1, "b")  # pyright: ignore[reportCallIssue]
    assert example("a", params=1, on_progress="b") == example("a", 1, "b") == ("a", 1, "b")
    assert example("a") == ("a", 0, "")


def test_both_names_at_once_are_rejected() -> None:
    with pytest.raises(TypeError, match="example: policy is the old name of params"):
        example("a", policy=1, params=1)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="multiple values for argument 'params'"):
        example("a", 1, policy=1)  # pyright: ignore[reportCallIssue]


def test_unknown_keywords_are_rejected() -> None:
    with pytest.raises(TypeError, match="police"):
        example("a", police=1)  # pyright: ignore[reportCallIssue]


def test_the_function_keeps_its_name_and_docstring() -> None:
    assert (example.__name__, example.__doc__) == ("example", "Returns its arguments.")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Policy", "SamplingParams"),
        ("BadPolicy", "BadSamplingParams"),
        ("Shaper", "TreeChoice"),
    ],
)
def test_old_names_are_the_new_classes(old: str, new: str) -> None:
    assert getattr(sequoia, old) is getattr(sequoia, new)
    assert {old, new} <= set(sequoia.__all__)
