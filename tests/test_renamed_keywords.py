"""Old keywords go on working beside the new ones."""

from __future__ import annotations

import pytest

import sequoia
from sequoia.renamed_keywords import renamed_keywords


@renamed_keywords(policy="params", tell="on_progress")
def asked(prompt: str, params: int = 0, on_progress: str = "") -> tuple[str, int, str]:
    """What was asked for."""
    return prompt, params, on_progress


def test_an_old_keyword_is_taken_as_the_new_one() -> None:
    assert asked("a", policy=1, tell="b") == ("a", 1, "b")  # pyright: ignore[reportCallIssue]
    assert asked("a", params=1, on_progress="b") == asked("a", 1, "b") == ("a", 1, "b")
    assert asked("a") == ("a", 0, "")


def test_both_names_at_once_are_refused() -> None:
    with pytest.raises(TypeError, match="asked: policy is the old name of params"):
        asked("a", policy=1, params=1)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="multiple values for argument 'params'"):
        asked("a", 1, policy=1)  # pyright: ignore[reportCallIssue]


def test_other_unknown_keywords_are_refused() -> None:
    with pytest.raises(TypeError, match="police"):
        asked("a", police=1)  # pyright: ignore[reportCallIssue]


def test_the_function_keeps_its_name_and_words() -> None:
    assert (asked.__name__, asked.__doc__) == ("asked", "What was asked for.")


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
