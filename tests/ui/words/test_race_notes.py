"""Sentences about the choice of a race's trees."""

from __future__ import annotations

from typing import Any

from sequoia.planning.compare_plans import Elsewhere
from ui.words.race_notes import note_words

CODE = {"prompt_name": "", "label": "recorded", "kind": "code", "has_prompt": False}
REPEAT = {"code": "repeat", "prompt_name": "", "lane": "Sequoia", "other": "Tuned chain"}


def rates(*sources: dict[str, Any]) -> str:
    (words,) = note_words([{"code": "rates", "sources": [*sources]}])
    return words.removeprefix("Trees and chain lengths are planned from acceptance rates ")


def test_the_source_of_the_rates_is_named() -> None:
    assert rates(CODE) == "counted on other texts (Python code), not on this prompt."
    here = "counted on texts that include this prompt (Python code)."
    assert rates({**CODE, "has_prompt": True}) == here
    sample = "counted on a built-in sample text, not on this prompt."
    assert rates({**CODE, "label": "measured", "kind": ""}) == sample


def test_with_two_prompts_equal_sources_are_named_once() -> None:
    two = [{**CODE, "prompt_name": name} for name in ("code", "prose")]
    assert rates(*two) == "counted on other texts (Python code)."
    two[0]["has_prompt"] = True
    assert rates(*two) == (
        "On code, trees and chain lengths are planned from acceptance rates counted on texts that "
        "include this prompt (Python code); on prose, from acceptance rates counted on other texts "
        "(Python code)."
    )


def test_a_lane_that_is_left_out_is_explained() -> None:
    elsewhere = Elsewhere("A100, Llama-2-7B with 68M, eager, as in the paper", 1.25)
    chain = {**REPEAT, "nodes": 6, "levels": 6}
    same = "Sequoia is a chain of 6 nodes, the same as Tuned chain, so it is raced once."
    assert note_words([chain]) == [same]
    words = note_words([chain, {"code": "instead", "lanes": ["Plain"]}], elsewhere)
    assert words[:2] == [same, "Plain races instead."]
    assert "would be 25% ahead of the best chain (predicted, hypothetical" in words[2]
    (plain,) = note_words([{**REPEAT, "nodes": 1, "levels": 1, "prompt_name": "prose"}])
    assert plain == (
        "Sequoia is plain decoding on prose: nothing larger is predicted to be faster."
    )


def test_a_predicted_chain_has_its_label() -> None:
    note = {"code": "missing_chain", "prompt_name": "", "nodes": 6, "speedup": 1.5}
    words = "A tuned chain of 6 nodes, not in this race, would reach 1.50× plain"
    assert note_words([{**note, "hypothetical": False}]) == [f"{words} (predicted)."]
    assert note_words([{**note, "hypothetical": True}]) == [f"{words} (predicted, hypothetical)."]
