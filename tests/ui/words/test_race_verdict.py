"""The sentences under the verdict of a race."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sequoia.algorithm.expected_steps import SEGMENTS, ExpectedSteps
from sequoia.diagnosis.compare_runs import LaneRun, LaneRuns
from sequoia.diagnosis.race_verdict import race_verdict
from sequoia.planning.compare_plans import OtherMachine
from ui.words.race_verdict import details, elsewhere_words, note_words, reasons

A100 = "A100, Llama-2-7B with 68M, eager, as in the paper"
ELSEWHERE = OtherMachine(A100, 1.354)


def lane(
    name: str, kind: str, tokens: int, seconds: float, on: str = "", expected: float = 0
) -> LaneRuns:
    """A run of constant pace. expected: tokens per step, expected on three texts; 0 if unknown.
    Without it, all lanes have the same text."""
    steps = ((tokens, seconds),) * (240 // tokens)
    if not expected:
        return LaneRuns(name, kind, (LaneRun(on, 0, steps, tuple(range(240))),), on)
    found = ExpectedSteps((96,) * 3, ((96 / SEGMENTS / expected,) * SEGMENTS,) * 3)
    return LaneRuns(name, kind, (LaneRun(on, 0, steps, expected=found),), on)


PLAIN = lane("Plain", "plain", 1, 0.01)
CHAIN = lane("Tuned chain", "chain", 4, 0.02)


def why(*lanes: LaneRuns) -> tuple[str, ...]:
    return reasons(race_verdict(lanes), lanes)


def test_a_tree_that_wins_is_compared_with_the_chain_by_tokens_per_step() -> None:
    tree = lane("Sequoia", "tree", 5, 0.022)
    assert why(PLAIN, CHAIN, tree) == ("Sequoia emits 5.0 tokens per step, the tuned chain 4.0.",)


@pytest.mark.parametrize(
    ("tokens", "seconds", "words"),
    [
        (5, 0.03, "steps are 10.0 ms longer, but their 1.0 extra tokens save only 5.0 ms"),
    ],
)
def test_a_chain_that_wins_says_what_the_trees_steps_cost_and_save(
    tokens: int, seconds: float, words: str
) -> None:
    found = why(PLAIN, CHAIN, lane("Sequoia", "tree", tokens, seconds))
    assert found == (f"Sequoia’s {words}.",)


def test_two_prompts_are_compared_by_speed_ups() -> None:
    def on_both(prose: tuple[int, float]) -> list[LaneRuns]:
        trees = (("code", (5, 0.02)), ("prose", prose))
        return [
            lane(name, kind, *step, on)
            for on, tree in trees
            for name, kind, step in (("Plain", "plain", (1, 0.01)), ("Tuned chain", "chain", tree))
        ]

    apart, close = on_both((2, 0.018)), on_both((5, 0.0201))
    start = "The tuned chain’s speed-up over plain decoding is 2.2× as large on code as on prose "
    assert why(*apart)[-1].startswith(start)
    assert why(*close)[-1].endswith("so it is too close to call.")
    assert any("only with lanes on its own prompt" in line for line in _details(*apart))


def _details(*lanes: LaneRuns) -> tuple[str, ...]:
    return details(race_verdict(lanes), lanes)


def test_the_details_say_whether_the_texts_are_the_same_and_which_clock_timed_them() -> None:
    lanes = tuple(replace(one, runs=(replace(one.runs[0], clock=A100),)) for one in (PLAIN, CHAIN))
    _, clock, texts = _details(*lanes)
    assert A100 in clock
    assert "(simulated)" in clock
    assert "emitted the same text" in texts


def test_a_chain_that_wins_or_ties_names_a_machine_on_which_the_tree_would_win() -> None:
    def named(*lanes: LaneRuns) -> bool:
        return elsewhere_words(ELSEWHERE) in reasons(race_verdict(lanes), lanes, ELSEWHERE)

    slower = lane("Sequoia", "tree", 4, 0.03)
    equal = replace(CHAIN, name="Sequoia", kind="tree")
    assert named(CHAIN, slower)
    assert named(CHAIN, equal)
    assert not named(CHAIN, PLAIN)  # no tree raced
    assert not named(replace(CHAIN, kind="tree"), replace(slower, kind="chain"))


# -- the choice of the trees -----------------------------------------------------------------------


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
    words = "A tuned chain of 6 nodes, no lane of this run, would reach 1.5× plain"
    assert note_words([{**note, "hypothetical": False}]) == [
        f"{words} (predicted, from the rates known before the run)."
    ]
    assert note_words([{**note, "hypothetical": True}]) == [
        f"{words} (hypothetical, from the rates known before the run)."
    ]
