"""The shipped results are complete. They were made with the program's present settings, except for
the number of prompts, and are worded as the program words results now. In `budget`, no other shape
clearly beats the planned tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sequoia.assets_folder import ASSETS
from sequoia.experiments import budget, hardware, ranks, specinfer, verifiers_compared
from sequoia.experiments.registry import EXPERIMENTS
from sequoia.experiments.result import Comparison, ExperimentResult
from sequoia.experiments.shapes import LABELS

FILES = sorted((ASSETS / "experiments").glob("*.json"))
MOST_BYTES = 60_000


def recorded(name: str) -> ExperimentResult:
    text = (ASSETS / "experiments" / f"{name}.json").read_text(encoding="utf-8")
    return ExperimentResult.from_json(text)


def test_every_experiment_has_a_result() -> None:
    assert {file.stem for file in FILES} == EXPERIMENTS.keys()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recorded_result_is_complete_and_has_the_present_settings(file: Path) -> None:
    assert file.stat().st_size <= MOST_BYTES
    result = recorded(file.stem)
    experiment = EXPERIMENTS[file.stem]
    assert result.is_complete
    assert result.total == len(experiment.units(result.settings))
    full = experiment.sizes["full"]
    assert {**result.settings, "prompts": 0} == {**full, "prompts": 0}
    assert (result.name, result.title) == (experiment.name, experiment.title)
    assert result.question == experiment.question
    assert result.source in {"recorded", "simulated"}
    assert "measured" not in {column.kind for column in result.columns}
    assert result.finding
    assert not re.search(r"/tmp|/home|/root|/work", file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("budget", budget._finding),
        ("temperature", verifiers_compared._finding),
        ("top-p", verifiers_compared._finding),
    ],
)
def test_a_recorded_finding_is_what_the_program_says_of_its_comparisons(
    name: str, words: Callable[[Sequence[Comparison]], str]
) -> None:
    result = recorded(name)
    assert result.finding == words(list(result.comparisons))


def test_other_recorded_findings_are_what_the_program_says_of_their_numbers() -> None:
    grid = recorded("specinfer")
    assert grid.finding == specinfer._finding(list(grid.comparisons), grid.rows)
    rejected = recorded("ranks")
    assert rejected.finding == ranks._finding(rejected.rows, rejected.settings["ranks"])
    machines = recorded("hardware")
    gains = [one for one in machines.comparisons if one.text.endswith("over tree of 8 nodes")]
    answer = hardware._against_one_size(gains, "8", machines.settings)
    assert machines.finding.splitlines()[0] == answer


def test_the_verifier_with_the_most_tokens_per_step_is_named_only_if_it_is_clear() -> None:
    def answer(**lows: list[float]) -> str:
        """lows: low ends of the ratios of Sequoia to each verifier; each interval is 0.4 wide."""
        return verifiers_compared._finding(
            [
                Comparison(f"case {i}: Sequoia over {name}", low + 0.2, low, low + 0.4)
                for name, some in lows.items()
                for i, low in enumerate(some)
            ]
        ).splitlines()[0]

    won, lost, unclear = 1.1, 0.5, 0.8
    assert answer(SpecInfer=[won, won], Traversal=[lost, lost]) == (
        "Traversal emits the most tokens per step: clearly more than Sequoia in all 2 cases. "
        "Sequoia emits clearly more than SpecInfer in all 2."
    )
    assert answer(SpecInfer=[won, won, won], Traversal=[unclear, won, won]) == (
        "Sequoia emits the most tokens per step: clearly more than SpecInfer in all 3 and than "
        "Traversal in 2 of 3 cases."
    )
    assert answer(SpecInfer=[unclear, unclear], Traversal=[lost, unclear]) == (
        "Traversal emits clearly more tokens per step than Sequoia in 1 of 2 cases. Sequoia emits "
        "clearly more than SpecInfer in none of 2."
    )
    assert answer(SpecInfer=[unclear], Traversal=[unclear]) == (
        "Sequoia emits clearly more tokens per step than SpecInfer and Traversal in none of 1 "
        "cases."
    )


def test_losses_are_explained_only_if_the_reason_fits_all_of_them() -> None:
    """The reason: a long chain does well on whole texts at temperature 0, because they usually
    repeat themselves."""

    def finding(*lost: str) -> str:
        won = Comparison("prose, temperature 0.6, 16 nodes: Sequoia's tree over chain", 1.2, 1.1, 2)
        return budget._finding([won, *(Comparison(text, 0.9, 0.8, 0.95) for text in lost)])

    greedy = "code, temperature 0, 16 nodes: Sequoia's tree over"
    assert "long chain does well" in finding(f"{greedy} chain")
    assert "long chain" not in finding(f"{greedy} k-ary tree")
    assert "long chain" not in finding(f"{greedy} chain", f"{greedy} SpecInfer's tree")
    assert "long chain" not in finding("code, temperature 0.6, 16 nodes: Sequoia's tree over chain")
    cut = f"code, temperature 0, {budget._NEW}, 16 nodes: Sequoia's tree over chain"
    assert "long chain" not in finding(cut)


def test_the_finding_on_specinfer_says_how_often_sequoia_is_lower_and_which_tree_is_best() -> None:
    words = specinfer._finding(
        [
            Comparison("won", 1.2, 1.1, 1.3),
            Comparison("lost", 0.9, 0.8, 0.95),
            Comparison("unclear", 1.0, 0.9, 1.1),
        ],
        [
            {"case": case, "width": width, "depth": 8, "specinfer": tokens}
            for case, width, tokens in (("a", 1, 3.0), ("a", 2, 2.0), ("b", 2, 4.0), ("c", 1, 1.0))
        ],
    )
    assert words.startswith("In 1 of 3 comparisons, Sequoia's tree emits clearly more tokens")
    assert "It emits clearly fewer in 1.\n" in words
    assert words.endswith(
        "Of SpecInfer's settings, 1 sequence of 8 tokens yields the most tokens per step (a; c).\n"
        "Of SpecInfer's settings, 2 sequences of 8 tokens yield the most tokens per step (b)."
    )
    lost_only = specinfer._finding([Comparison("lost", 0.9, 0.8, 0.95)], [])
    assert lost_only.startswith("In none of 1 comparisons, ")


def test_recorded_results_use_the_labels_of_new_ones() -> None:
    sizes = recorded("budget")
    assert {one.name for one in sizes.series} == set(LABELS.values())
    assert [one.label for one in sizes.columns[3:]] == list(LABELS.values())
    for name in ("temperature", "top-p"):
        assert recorded(name).columns[3].label == "speed-up on A100"
    verifiers = {one.name for one in recorded("temperature").series}
    assert {"chain, token verification", "chain, block verification"} < verifiers
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert not re.search(
            "before repetition|block over chain|planned over|(fewer|slower) in 0|over Tuned", text
        )


def test_no_other_shape_clearly_emits_more_tokens_per_step_than_the_planned_tree() -> None:
    """The ratio is that of the planned tree to the other shape. Its 95% interval never lies wholly
    below 1."""
    comparisons = recorded("budget").comparisons
    assert len(comparisons) == 6 * 6 * 4  # panels, budgets, other shapes
    assert [one.text for one in comparisons if one.high is not None and one.high < 1] == []
    assert all(one.high is not None for one in comparisons)
