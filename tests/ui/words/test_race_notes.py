"""Sentences about the choice of a race's trees."""

from __future__ import annotations

from typing import Any

from ui.words.race_notes import note_words

CODE = {"prompt_name": "", "label": "recorded", "kind": "code", "has_prompt": False}


def rates(*sources: dict[str, Any]) -> str:
    (words,) = note_words([{"code": "rates", "sources": [*sources]}])
    return words.removeprefix("Trees and chain lengths are planned from acceptance rates ")


def test_the_source_of_the_rates_is_named() -> None:
    assert rates(CODE) == "counted on other texts (Python code), not on this prompt."
    here = "counted on texts that include this prompt (Python code)."
    assert rates({**CODE, "has_prompt": True}) == here
    sample = "counted on a built-in sample text, not on this prompt."
    assert rates({**CODE, "label": "measured", "kind": ""}) == sample


def test_a_predicted_chain_has_its_label() -> None:
    note = {"code": "missing_chain", "prompt_name": "", "nodes": 6, "speedup": 1.5}
    words = "A tuned chain of 6 nodes, not in this race, would reach 1.50× plain"
    assert note_words([{**note, "hypothetical": False}]) == [
        f"{words} (predicted, from the rates known before the race)."
    ]
    assert note_words([{**note, "hypothetical": True}]) == [
        f"{words} (hypothetical, from the rates known before the race)."
    ]
