"""The figures of ui/hardware, as data. Their values match the profile, grid or comparison that they
show, and Plotly accepts their properties. The values of `small_curves` are not compared."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from fakes import made_profile

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.step_trace import PHASES, DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import check_prediction
from sequoia.planning.compare_plans import chosen, knee
from sequoia.planning.plan_for_machine import predict, speedup_grid
from sequoia.planning.simulated_step_times import phases
from ui.hardware import figures

PROFILE = made_profile(
    target_seconds=((1, 0.02, 0.001), (8, 0.021, 0.001), (64, 0.03, 0.002), (128, 0.06, 0.002)),
    draft_seconds=((1, 0.0015, 0.0001), (32, 0.0016, 0.0)),
    overhead_seconds=((1, 0.001, 0.0), (101, 0.002, 0.0)),
)
OTHER = replace(
    PROFILE, target_seconds=((1, 0.5, 0.0),), draft_seconds=((1, 0.01, 0.0),), overhead_seconds=0.0
)
GRID = speedup_grid(Acceptance((0.6, 0.15, 0.08)), PROFILE, (1, 2, 4, 8, 16, 32), range(1, 9))
PLAN = predict(Tree.kary(2, 4), Acceptance((0.6, 0.2)), PROFILE)
STATS = DecodeStats(steps=4, tokens=9, seconds={"draft": 0.03, "verify": 0.1, "overhead": 0.01})


def data_of(figure: Any) -> list[dict[str, Any]]:
    """The traces of a figure, as the page gets them."""
    return json.loads(json.dumps(figure.to_plotly_json()))["data"]


def test_the_curve_shows_the_points_their_spread_and_the_knee() -> None:
    curve, mark = figures.verify_curve([("here", PROFILE)])["data"]
    assert [*zip(curve["x"], curve["y"], curve["error_y"]["array"], strict=True)] == [
        (size, seconds * 1e3, spread * 1e3) for size, seconds, spread in PROFILE.target_seconds
    ]
    assert [*mark["x"]] == [knee(PROFILE)]
    assert [*mark["y"]] == [pytest.approx(PROFILE.verify_seconds(knee(PROFILE)) * 1e3)]
    note = figures.verify_curve([("here", PROFILE)])["layout"]["annotations"][0]
    assert 10 ** note["x"] == pytest.approx(knee(PROFILE))
    assert str(knee(PROFILE)) in note["text"]


def test_the_map_shows_the_grid_and_marks_its_best_cell() -> None:
    heat, mark = data_of(figures.heat_map(GRID))
    for i, row in enumerate(GRID.plans):
        for j, plan in enumerate(row):
            assert heat["z"][i][j] == (
                None if plan is None else pytest.approx(plan.predicted_speedup)
            )
            if plan:
                assert heat["customdata"][i][j] == [
                    plan.expected_tokens,
                    plan.predicted_seconds * 1e3,
                    plan.tree.levels,
                ]
    row, column = chosen(GRID)
    assert (mark["x"], mark["y"]) == ([str(GRID.sizes[column])], [str(GRID.levels[row])])
    assert (
        max(value for line in heat["z"] for value in line if value is not None)
        == heat["z"][row][column]
    )
    assert any(value is None for line in heat["z"] for value in line)


def test_bars_are_milliseconds_per_step() -> None:
    predicted = phases(PLAN.tree, PROFILE)
    bars = data_of(figures.phase_bars(check_prediction(STATS, PLAN, PROFILE)))
    for bar, phase in zip(bars, PHASES, strict=True):
        assert bar["name"] == phase
        assert dict(zip(bar["y"], bar["x"], strict=True)) == pytest.approx(
            {"measured": STATS.seconds[phase] / 4 * 1e3, "predicted": predicted[phase] * 1e3}
        )


def test_names_of_opened_profiles_are_not_read_as_markup() -> None:
    """Plotly interprets tags and links in names, and a profile's name may come from any file."""
    name = "<a href=x>&</a>"
    found = [
        figures.verify_curve([(name, PROFILE), (name, OTHER)]),
        figures.small_curves([(name, PROFILE), (name, OTHER)]),
    ]
    names = [trace["name"] for figure in found for trace in figure["data"]]
    assert any("&lt;a href=x&gt;" in shown for shown in names)
    assert not any("<" in shown for shown in names)
