"""Hardware profiles: the times between their points, refused values, and files."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from machines import random_machine

from sequoia.errors import BadProfile
from sequoia.planning.hardware_profile import HardwareProfile

GOOD: dict[str, Any] = {
    "device": "one card",
    "dtype": "float16",
    "target": "large",
    "draft": "small",
    "versions": {"torch": "2.0", "python": "3.11"},
    "prefix_length": 128,
    "target_seconds": [(1, 0.02, 0.001), (8, 0.021, 0.001), (64, 0.03, 0.002), (256, 0.06, 0.002)],
    "draft_seconds": [(1, 0.0005, 0.0), (32, 0.0006, 0.0)],
    "overhead_seconds": [(1, 0.001, 0.0), (101, 0.002, 0.0)],
    "source": "simulated",
    "date": "2025-01-31",
}
PROFILE = HardwareProfile(**GOOD)


def test_times_are_linear_between_and_beyond_the_points() -> None:
    assert [PROFILE.verify_seconds(n) for n in (1, 8, 64, 256)] == pytest.approx(
        [0.02, 0.021, 0.03, 0.06]
    )
    assert PROFILE.verify_seconds(36) == pytest.approx(0.0255)
    assert PROFILE.verify_seconds(448) == pytest.approx(0.09)
    assert PROFILE.draft_seconds_at(63) == pytest.approx(0.0007)
    assert PROFILE.overhead(51) == pytest.approx(0.0015)
    assert PROFILE.plain_seconds == pytest.approx(0.021)


def test_times_before_the_first_point_and_of_a_single_point_are_constant() -> None:
    profile = replace(PROFILE, draft_seconds=[(4, 0.5, 0.0), (8, 0.6, 0.0)], overhead_seconds=0.25)
    assert [profile.draft_seconds_at(width) for width in (1, 4)] == [0.5, 0.5]
    assert profile.overhead_seconds == ((1, 0.25, 0.0),)
    assert [profile.overhead(n) for n in (1, 900)] == [0.25, 0.25]


def test_decreasing_times_are_averaged_so_that_time_never_decreases() -> None:
    """Guards against choosing a larger tree only because noise makes a larger pass look faster. The
    points themselves stay as measured."""
    points = ((1, 0.02, 0.0), (8, 0.04, 0.0), (16, 0.02, 0.0), (32, 0.05, 0.0), (64, 0.03, 0.0))
    profile = replace(PROFILE, target_seconds=points)
    assert profile.target_seconds == points
    assert [profile.verify_seconds(n) for n in (1, 8, 16, 32, 64)] == pytest.approx(
        [0.02, 0.03, 0.03, 0.04, 0.04]
    )
    rng = random.Random(1)
    for _ in range(30):
        noisy = random_machine(rng)
        for time in (noisy.verify_seconds, noisy.draft_seconds_at, noisy.overhead):
            assert (np.diff([time(n) for n in range(1, 80)]) >= -1e-15).all()


def test_profiles_are_values() -> None:
    """Equal arguments make equal profiles with equal hashes; lists and dicts become tuples."""
    assert HardwareProfile(**GOOD) == PROFILE
    assert hash(PROFILE) == hash(HardwareProfile(**GOOD))
    assert PROFILE.versions == (("python", "3.11"), ("torch", "2.0"))
    assert PROFILE.target_seconds[0] == (1, 0.02, 0.001)


BAD: dict[str, tuple[str, Any, str]] = {
    "device": ("device", None, "device: None; input should be a valid string"),
    "no points": (
        "target_seconds",
        [],
        "target_seconds: a list; tuple should have at least 1",
    ),
    "order": (
        "target_seconds",
        [(1, 0.5, 0.0), (4, 0.5, 0.0), (2, 0.5, 0.0)],
        "target_seconds: a list; sizes must increase",
    ),
    "no plain token": (
        "target_seconds",
        [(2, 0.5, 0.0)],
        "target_seconds: a list; the first size must be 1 (plain decoding)",
    ),
    "no time": (
        "target_seconds",
        [(1, 0.0, 0.0)],
        "target_seconds.0.1: 0.0; input should be greater than or equal to",
    ),
    "source": (
        "source",
        "guessed",
        "source: 'guessed'; input should be 'measured', 'recorded', 'paper' or 'simulated'",
    ),
    "date": ("date", "yesterday", "date: 'yesterday'; it must be an ISO date"),
}


@pytest.mark.parametrize("what", list(BAD))
def test_invalid_profiles_are_rejected_with_field_value_and_bound(what: str) -> None:
    name, value, named = BAD[what]
    with pytest.raises(BadProfile) as caught:
        HardwareProfile(**{**GOOD, name: value})
    assert named in str(caught.value)


@pytest.mark.parametrize("size", [0, 65_537, 2.0])
def test_times_of_invalid_sizes_are_rejected(size: Any) -> None:
    with pytest.raises(BadProfile, match=r"nodes of a pass: .* is not a whole number from 1 to"):
        PROFILE.verify_seconds(size)


def test_json_round_trip() -> None:
    rng = random.Random(2)
    for profile in (PROFILE, *(random_machine(rng) for _ in range(20))):
        assert HardwareProfile.from_json(profile.to_json()) == profile


def file_with(**changes: Any) -> str:
    return json.dumps({"format": "sequoia-profile", "version": 1, **asdict(PROFILE), **changes})


# The last brace is cut off, so that a test can add a key a second time with a bad value. Of two
# equal keys in JSON, the later one counts.
HEAD = file_with()[:-1]
HOSTILE: dict[str, tuple[Any, str]] = {
    "nested": (
        HEAD + ', "target_seconds": ' + "[" * 400 + "]" * 400 + "}",
        "target_seconds.0.0: a list; input should be a valid integer",
    ),
    "infinite": (HEAD + ', "overhead_seconds": 1e999}', "not a JSON file"),
    "missing": (
        '{"format": "sequoia-profile", "version": 1, "device": "a"}',
        "dtype is missing",
    ),
}


@pytest.mark.parametrize("what", list(HOSTILE))
def test_hostile_files_raise_only_bad_profile(what: str) -> None:
    text, named = HOSTILE[what]
    with pytest.raises(BadProfile) as caught:
        HardwareProfile.from_json(text)
    assert named in str(caught.value)
