"""Another machine, on which a tree is predicted to win."""

from __future__ import annotations

import pytest

from sequoia.algorithm.acceptance import Acceptance
from sequoia.diagnosis.elsewhere import tree_elsewhere
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.plan_for_machine import best_chain, best_plan
from sequoia.planning.simulated_step_times import SimulatedClock


def test_the_other_machine_is_the_first_on_which_the_tree_is_clearly_ahead() -> None:
    rates = Acceptance((0.9, 0.05, 0.01))
    clocks = [
        SimulatedClock(named_profile(name), name)
        for name in ("m1-max-qwen3-8b", "a100-llama-2-7b-eager", "l40-llama-2-70b-offloaded")
    ]
    found = tree_elsewhere(rates, clocks)
    assert found is not None
    profile = clocks[1].profile
    tree = best_plan(rates, profile).predicted_speedup
    assert found.clock == "a100-llama-2-7b-eager"
    assert found.ratio == pytest.approx(tree / best_chain(rates, profile).predicted_speedup)
    assert tree_elsewhere(rates, clocks[:1]) is None
