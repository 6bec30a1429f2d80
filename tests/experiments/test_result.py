"""Results in files and as CSV, and confidence intervals over prompts."""

from __future__ import annotations

import json
import random

import pytest

from sequoia.errors import BadTrace
from sequoia.experiments.result import (
    Estimate,
    ExperimentResult,
    Ratio,
    Row,
    ratio_of,
)

RESULT = ExperimentResult(
    name="budget",
    label="recorded",
    date="2026-11-25",
    target="target",
    draft="draft",
    machine="cpu",
    settings={"prompts": 2, "kinds": ["code"]},
    rows=(
        Row(
            lane="chain",
            at={"kind": "a, b", "nodes": 16},
            about={"levels": 3},
            figures={"tokens": Estimate(2.5, 2.25, 2.75, 9), "speed": Estimate(3.0)},
        ),
        Row(lane="tree", at={"kind": "code", "nodes": 32}, figures={"tokens": Estimate(3.0)}),
    ),
    ratios=(
        Ratio(one="a", other="b", at={"nodes": 16}, ratio=Estimate(1.5, 1.25, 1.75, 9)),
        Ratio(one="a", other="b", at={"nodes": 32}, ratio=Estimate(0.5, 0.25, 0.75, 9)),
        Ratio(one="a", other="b", at={"nodes": 64}, ratio=Estimate(1.0)),
    ),
    done=3,
    total=4,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rows", [{"lane": "a"}]),
        ("ratios", [{"one": "a", "other": "b", "at": {}, "ratio": [float("nan")]}]),
    ],
)
def test_a_damaged_file_is_refused_with_the_name_of_the_field(name: str, value: object) -> None:
    text = json.dumps({**json.loads(RESULT.model_dump_json()), name: value})
    with pytest.raises(BadTrace, match=f": {name}"):
        ExperimentResult.from_json(text)


def test_a_ratio_is_paired_over_prompts() -> None:
    """The values differ between prompts by up to a factor of ten. Nevertheless, the interval is
    narrow, because on every prompt the methods differ by about 10 %."""
    theirs = [1.0, 10.0, 2.0, 5.0]
    ours = [1.1, 11.1, 2.2, 5.4]
    found = ratio_of(ours, theirs)
    assert found.low is not None
    assert found.high is not None
    assert 1.05 < found.low < found.mean < found.high < 1.15
    assert found.mean == pytest.approx(sum(ours) / sum(theirs), rel=1e-4)


def test_intervals_of_ratios_contain_the_truth_as_often_as_they_say() -> None:
    """The true ratio is 1.2. The difficulty of a prompt is the same for both methods."""
    rng = random.Random(1)
    hits = 0
    for _ in range(2000):
        hard = [rng.uniform(2, 4) for _ in range(12)]
        ours = [1.2 * one * rng.uniform(0.8, 1.2) for one in hard]
        found = ratio_of(ours, [one * rng.uniform(0.9, 1.1) for one in hard])
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 1.2 <= found.high
    assert 0.93 <= hits / 2000 <= 0.97
