"""The sentences under the verdict of a race."""

from __future__ import annotations

from dataclasses import replace

from sequoia.diagnosis.compare_runs import LaneRun, LaneRuns
from sequoia.diagnosis.race_verdict import race_verdict
from sequoia.planning.compare_plans import OtherMachine
from ui.words.race_verdict import details, elsewhere_words, note_words, reasons

A100 = "A100, Llama-2-7B with 68M, eager, as in the paper"
ELSEWHERE = OtherMachine(A100, 1.354)


def lane(name: str, kind: str, tokens: int, seconds: float, on: str = "") -> LaneRuns:
    """A run of constant pace. All lanes have the same text."""
    steps = ((tokens, seconds),) * (240 // tokens)
    return LaneRuns(name, kind, (LaneRun(on, 0, steps, tuple(range(240))),), on)


PLAIN = lane("Plain", "plain", 1, 0.01)
CHAIN = lane("Tuned chain", "chain", 4, 0.02)


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
    verdict = race_verdict(apart)
    assert reasons(verdict, apart)[-1].startswith(start)
    assert reasons(race_verdict(close), close)[-1].endswith("so it is too close to call.")
    assert any("only with lanes on its own prompt" in line for line in details(verdict, apart))


def test_a_chain_that_wins_or_ties_names_a_machine_on_which_the_tree_would_win() -> None:
    def named(*lanes: LaneRuns) -> bool:
        return elsewhere_words(ELSEWHERE) in reasons(race_verdict(lanes), lanes, ELSEWHERE)

    slower = lane("Sequoia", "tree", 4, 0.03)
    equal = replace(CHAIN, name="Sequoia", kind="tree")
    assert named(CHAIN, slower)
    assert named(CHAIN, equal)
    assert not named(CHAIN, PLAIN)  # no tree raced
    assert not named(replace(CHAIN, kind="tree"), replace(slower, kind="chain"))


def test_a_predicted_chain_has_its_label() -> None:
    note = {"code": "missing_chain", "prompt_name": "", "nodes": 6, "speedup": 1.5}
    words = "A tuned chain of 6 nodes, no lane of this run, would reach 1.5× plain"
    assert note_words([{**note, "hypothetical": False}]) == [
        f"{words} (predicted, from the rates known before the run)."
    ]
    assert note_words([{**note, "hypothetical": True}]) == [
        f"{words} (hypothetical, from the rates known before the run)."
    ]


def test_a_winner_with_fewer_tokens_per_step_wins_by_its_step_time() -> None:
    slow = lane("Sequoia", "tree", 2, 0.04)
    (why,) = reasons(race_verdict([PLAIN, slow]), [PLAIN, slow])
    assert (
        why == "Sequoia’s steps are 30.0 ms longer, but their 1.0 extra tokens save only 10.0 ms."
    )
