"""The recorded examples: their settings are valid, and they show what their sentences say."""

from __future__ import annotations

import pytest
import torch

from sequoia import Run, SequoiaError, StepTrace, Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.algorithm.verifiers.verdict import Verdict
from ui.decode import recordings
from ui.record_examples import SHUFFLED, Recipe, _shuffled, median_run, recipes, require_shown


def run(speedup: float) -> Run:
    """One plain step of 1 s, with that speed-up."""
    seconds = {"draft": 0.0, "verify": 1.0, "overhead": 0.0}
    step = StepTrace(
        0, 0, Tree.chain(1), (0,), (None,), (None,), Verdict((0,), 1, ()), (1,), seconds
    )
    return Run({"plain_seconds": speedup}, {}, (step,), (("",),))


def recipe(name: str, shows: str = "") -> Recipe:
    return Recipe(name, name, name + ".", "function", 0.6, ("best", 12, 6), shows)


def test_the_recipes_are_valid_and_recorded() -> None:
    found = recipes()
    assert {one.name for one in found} | {recordings.WELCOME} == {*recordings.shipped()}
    for one in found:
        assert one.request(96).params.max_new_tokens == 96
        assert one.verifier in VERIFIERS
        assert one.draft in ("", SHUFFLED)
    assert sum(one.shows.startswith("slower") for one in found) >= 4


def test_a_recipe_is_held_against_its_runs() -> None:
    runs = {"a": [run(0.5), run(0.8), run(2.0)], "b": [run(1.5)]}
    for shows in ("", "slower", "slower than b"):
        require_shown(recipe("a", shows), runs)
    require_shown(recipe("b", "faster than a"), runs)
    with pytest.raises(SequoiaError, match="a: 0.80x, which is not faster than 1.00x"):
        require_shown(recipe("a", "faster"), runs)


def test_the_median_run_is_kept() -> None:
    runs = [run(0.5), run(0.8), run(2.0)]
    assert median_run(runs) is runs[1]
    assert median_run(runs[:2]) is runs[0]


def test_shuffled_weights_are_the_same_numbers_in_another_order() -> None:
    weight = torch.arange(60.0).reshape(6, 10)
    mixed = _shuffled(weight, torch.Generator().manual_seed(0))
    assert mixed.shape == weight.shape
    assert not mixed.equal(weight)
    assert mixed.flatten().sort().values.equal(weight.flatten())
