"""The nearest shape of each engine: never better than the best tree, and drafted as its beam would
draft it."""

from __future__ import annotations

import math

import pytest

from sequoia import Acceptance, named_profile, profile_names
from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.engines.shapes import EXPONENTS, _beam, as_logged, break_even, planned, vector
from sequoia.planning.plan_for_machine import best_chain
from sequoia.text_files import load_json


@pytest.mark.parametrize("name", profile_names())
def test_no_shape_is_better_than_the_best_tree(name: str) -> None:
    found = planned(vector(0.7), named_profile(name))
    assert len(found.shapes) == 5
    for shape in found.shapes:
        assert -1e-9 <= shape.lost < 1
        least = min(found.chain.predicted_speedup, found.best.predicted_speedup)
        assert shape.plan.predicted_speedup >= least * (1 - 1e-9)


def test_a_beam_expands_only_its_most_probable_nodes() -> None:
    trees = dict(_beam(Acceptance((0.5, 0.3)), 2, 3))
    # level 1: .5 .3; of the four on level 2, .25 and .15 (under the first) have children
    assert max(trees) == 8
    assert trees[8].widths[2] <= 2
    assert trees[4].parents == (-1, 0, 0, 1)
    for size, tree in trees.items():
        assert len(tree) == size


def test_the_tail_of_a_vector_is_like_those_recorded() -> None:
    exponents = []
    for one in load_json(BUNDLED_PAIR / "acceptance.json")["measured"]:
        left = 1 - one["rates"][0]
        for k, rate in enumerate(one["rates"][1:4], start=2):
            exponents.append(math.log(one["rates"][0] / (rate / left)) / math.log(k))
            left -= rate
    exponents.sort()
    low, middle, high = EXPONENTS
    assert exponents[len(exponents) // 2] == pytest.approx(middle, abs=0.1)
    assert low == pytest.approx(exponents[len(exponents) // 10], abs=0.15)
    assert high == pytest.approx(exponents[-len(exponents) // 10], abs=0.15)
    assert sum(vector(0.9, low).rates) <= 1


def test_above_the_break_even_rate_a_chain_pays() -> None:
    for name in ("rtx-4090-qwen3-8b", "epyc-2-cores-bundled"):
        profile = named_profile(name)
        rate = break_even(profile)
        assert rate is not None
        assert best_chain(Acceptance((rate + 0.02,)), profile).predicted_speedup > 1
        assert best_chain(Acceptance((rate - 0.02,)), profile).predicted_speedup == 1


def test_the_chain_of_a_log_has_the_tokens_per_step_that_it_had() -> None:
    profile = named_profile("rtx-4090-qwen3-8b")
    plan = as_logged((0.6, 0.4, 0.3), profile)
    assert len(plan.tree) == 4
    assert plan.expected_tokens == pytest.approx(2.3)
