"""Results in files and as CSV, and confidence intervals over prompts."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace

import pytest

from sequoia.errors import BadTrace
from sequoia.experiments.intervals import comparison, point
from sequoia.experiments.result import (
    MAX_WORDS,
    Axis,
    Column,
    Comparison,
    ExperimentResult,
    Point,
    Series,
    to_csv,
)

RESULT = ExperimentResult(
    name="budget",
    title="Budget",
    question="Which?",
    finding="This.",
    source="recorded",
    date="2026-11-25",
    target="target",
    draft="draft",
    machine="cpu",
    settings={"prompts": 2, "kinds": ["code"]},
    x=Axis("nodes", "nodes", "log"),
    y=Axis("tokens", "tokens per step"),
    series=(Series("a, b", "sequoia", "code", (Point(16, 2.5, 2.25, 2.75, 9), Point(32, 3.0))),),
    columns=(Column("nodes", "nodes"), Column("paper", "in the paper", "paper")),
    rows=({"nodes": 16, "paper": None}, {"nodes": 32, "paper": "none"}),
    comparisons=(Comparison("a over b", 1.5, 1.25, 1.75), Comparison("c over d", 1.0)),
    done=3,
    total=4,
)


def test_a_file_gives_the_same_result() -> None:
    assert ExperimentResult.from_json(RESULT.to_json()) == RESULT
    assert ExperimentResult.from_dict(json.loads(RESULT.to_json())) == RESULT


def test_a_long_finding_can_be_opened_again() -> None:
    result = replace(RESULT, finding="x" * MAX_WORDS)
    assert ExperimentResult.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("series", [{"name": "a"}]),
        ("series", 3),
        ("source", "guessed"),
        ("done", 5),
        ("rows", [3]),
        ("x", {"name": "n", "label": "n", "scale": "cubic"}),
        ("finding", None),
        ("finding", "x" * (MAX_WORDS + 1)),
        ("settings", []),
        ("comparisons", [{"text": "a", "ratio": "b", "low": None, "high": None}]),
        ("format", "sequoia-run"),
    ],
)
def test_a_damaged_file_is_refused(name: str, value: object) -> None:
    with pytest.raises(BadTrace):
        ExperimentResult.from_dict({**json.loads(RESULT.to_json()), name: value})


def test_csv_has_a_line_for_each_point() -> None:
    lines = list(csv.reader(io.StringIO(to_csv(RESULT))))
    assert lines[0] == [
        "experiment",
        "panel",
        "series",
        "nodes",
        "tokens",
        "low",
        "high",
        "prompts",
    ]
    assert lines[1] == ["budget", "code", "a, b", "16", "2.5", "2.25", "2.75", "9"]
    assert lines[2] == ["budget", "code", "a, b", "32", "3.0", "", "", "0"]


def test_intervals_contain_the_truth_as_often_as_they_say() -> None:
    """About 95 % of 2,000 intervals, each computed from 8 values, must contain the true mean."""
    rng = random.Random(0)
    hits = 0
    for _ in range(2000):
        found = point(1, [rng.gauss(3, 1) for _ in range(8)])
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 3 <= found.high
    assert 0.93 <= hits / 2000 <= 0.97


def test_a_ratio_is_paired_over_prompts() -> None:
    """The values differ between prompts by up to a factor of ten. Nevertheless, the interval is
    narrow, because on every prompt the methods differ by about 10 %."""
    theirs = [1.0, 10.0, 2.0, 5.0]
    ours = [1.1, 11.1, 2.2, 5.4]
    found = comparison("a over b", ours, theirs)
    assert found.low is not None
    assert found.high is not None
    assert 1.05 < found.low < found.ratio < found.high < 1.15
    assert found.ratio == pytest.approx(sum(ours) / sum(theirs), rel=1e-4)


def test_intervals_of_ratios_contain_the_truth_as_often_as_they_say() -> None:
    """The true ratio is 1.2. The difficulty of a prompt is the same for both methods."""
    rng = random.Random(1)
    hits = 0
    for _ in range(2000):
        hard = [rng.uniform(2, 4) for _ in range(12)]
        ours = [1.2 * one * rng.uniform(0.8, 1.2) for one in hard]
        found = comparison("a over b", ours, [one * rng.uniform(0.9, 1.1) for one in hard])
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 1.2 <= found.high
    assert 0.93 <= hits / 2000 <= 0.97


def test_one_prompt_has_no_interval() -> None:
    assert point(1, [2.0]) == Point(1, 2.0, prompts=1)
    assert comparison("a over b", [2.0], [1.0]) == Comparison("a over b", 2.0)
