"""The table of plans for the hardware profiles that come with the program has the numbers that the
planner predicts."""

from __future__ import annotations

import pytest

from sequoia.errors import BadAcceptance
from sequoia.profiles import main, ready_plans, recorded, table

NAME = "a100-llama-2-7b-eager"


def test_the_expected_machines_gain_from_a_tree() -> None:
    """A tree is much faster than a chain on machines where a pass over many tokens takes little
    longer than a pass over one. On a machine with little computing power, it is hardly faster."""
    gains = {
        plan.name: plan.tree.predicted_speedup / plan.chain.predicted_speedup
        for plan in ready_plans(recorded("code", 0.6))
    }
    assert gains["l40-llama-2-70b-offloaded"] > 1.6
    assert gains[NAME] > 1.3
    assert 1.1 < gains["rtx-4090-qwen3-8b"] < 1.3
    assert gains["m1-max-qwen3-8b"] < 1.02


def test_the_table_has_the_numbers_of_the_plans(capsys: pytest.CaptureFixture[str]) -> None:
    (plan,) = ready_plans(recorded("prose", 0.0), [NAME])
    assert main(["--kind", "prose", "--temperature", "0", "--profile", NAME]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Speed-ups over plain decoding, predicted; prose, T = 0.")
    assert table([plan]) in printed
    assert f"| {len(plan.tree.tree)} | {plan.tree.tree.levels} |" in printed
    assert f"{plan.tree.predicted_speedup:.2f}x" in printed
    assert f"{plan.chain.predicted_speedup:.2f}x" in printed


def test_what_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadAcceptance, match=r"code at temperature 0\.5"):
        recorded("code", 0.5)
    assert main(["--profile", "abacus"]) == 2
    assert "no hardware profile is named 'abacus'" in capsys.readouterr().err
