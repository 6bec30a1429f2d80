"""Sentences about where a run's time went and what to try. The label of the run's own figures is no
part of them."""

from __future__ import annotations

from dataclasses import replace

from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import time_breakdown
from sequoia.saved_files.race_results import Diagnosis, Remedy
from ui.words.race_analysis import diagnosis_words, remedy_label, remedy_words

PLAIN = DecodeStats(steps=100, tokens=100, seconds={"draft": 0.0, "verify": 0.8, "overhead": 0.2})
RUN = DecodeStats(steps=50, tokens=150, seconds={"draft": 0.3, "verify": 0.6, "overhead": 0.15})
COSTS = time_breakdown(RUN, PLAIN)
DRAFT = Remedy("smaller_draft", 1.6)
TREE = Remedy("fastest_tree", 1.55, Tree.chain(3))
FOUND = Diagnosis(COSTS, 3.4, (), (), 1.65)


def test_a_change_of_the_models_is_never_called_another_tree() -> None:
    none = "No other tree is predicted to be faster."
    assert diagnosis_words(FOUND) == none
    assert diagnosis_words(replace(FOUND, unclear=(DRAFT,))) == none
    unclear = diagnosis_words(replace(FOUND, unclear=(DRAFT, TREE)))
    assert unclear.endswith("the best one reaches 1.6× (predicted).")


def test_plain_decoding_is_never_called_a_prediction() -> None:
    plain = Remedy("plain", 1.0, Tree.chain(1))
    assert remedy_words(plain) == "Plain decoding"
    assert [remedy_label(one) for one in (plain, TREE, DRAFT)] == [
        "run",
        "predicted",
        "predicted, what if",
    ]
    assert [remedy_label(one, hypothetical=True) for one in (plain, TREE, DRAFT)] == [
        "run",
        "hypothetical",
        "hypothetical, what if",
    ]
    assert "the best one reaches 1.0×." in diagnosis_words(replace(FOUND, unclear=(plain,)))
