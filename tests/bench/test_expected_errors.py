"""The expected number of steps recorded for each text, and how often a race's 95% interval is
wrong. A race compares two lanes (decoding trees) on three texts of a prompt. The prompt's other
texts give the true ratio of tokens per step."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from fakes import tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.bench import expected_errors
from sequoia.bench.expected_errors import FILE, compared, main, outside, record

PROMPTS = json.loads(FILE.read_text(encoding="utf-8"))


def test_the_interval_of_any_two_recorded_lanes_seldom_misses() -> None:
    for one, other in combinations(PROMPTS[0][0], 2):
        assert outside(PROMPTS, one, other, 200, 1) <= 0.1


def test_a_ratio_that_is_off_by_a_third_is_outside() -> None:
    """Guards against intervals so wide that they could never miss."""
    wrong = [
        [
            {**text, "tree of 12": [0.75 * steps for steps in text["tree of 12"]]}
            for text in texts[:3]
        ]
        for texts in PROMPTS
    ]
    apart = []
    for right, other in zip(PROMPTS, wrong, strict=True):
        log, variance = compared(other, "tree of 12", "tree of 64")
        truth, _ = compared(right, "tree of 12", "tree of 64")
        apart.append(abs(log - truth) > 2.36 * variance**0.5)
    assert sum(apart) >= 0.9 * len(apart)


def test_expected_steps_are_recorded_by_lane_and_segment() -> None:
    params = SamplingParams(temperature=0.9, max_new_tokens=32, ignore_eos=True)
    (texts,) = record(tiny_pair(), ["def area("], params, 2)
    assert len(texts) == 2
    for text in texts:
        assert text["plain"] == pytest.approx([4] * 8)
        assert all(len(steps) == 8 for steps in text.values())
        assert all(sum(steps) <= 32.01 for steps in text.values())


LANES = {"plain": [4.0], "chain of 6": [2.0]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Expecting property name"),
        ("3", "'int' object is not iterable"),
        ('{"a": 1}', "'str' object has no attribute"),
        ('[[{"plain": ["x"]}]]', "could not convert string"),
        ("[]", "every prompt needs at least 4 texts"),
        (json.dumps([[LANES] * 3]), "every prompt needs at least 4 texts"),
        (json.dumps([[LANES] * 3 + [{"plain": [4.0]}]]), "all texts need the same lanes"),
        (json.dumps([[LANES] * 3 + [{**LANES, "plain": [4.0, 1]}]]), "equally many segments"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "steps.json"
    path.write_text(text)
    assert main(["--steps", str(path)]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"error: --steps: {str(path)!r}: ")
    assert said in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--texts", "3"], "--texts: 3 is not a whole number from 4"),
        (["--steps", "nowhere.json"], "--steps: 'nowhere.json'"),
        (["--races", "0"], "--races: 0 is not a whole number from 1"),
        (["--record", "--seed", "-1"], "seed: -1 is not a whole number"),
        (["--record", "--prompts", "0"], "--prompts: 0 is not a whole number from 1"),
        (["--record", "--steps", "/dev/null/steps.json"], "/dev/null/steps.json cannot be written"),
    ],
)
def test_a_bad_option_is_refused_in_one_line(
    arguments: list[str], said: str, refuses: Callable[..., None]
) -> None:
    refuses(expected_errors, arguments, said)
