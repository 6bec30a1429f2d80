"""The roofline model: its terms one by one, the profile computed from it, that profile's knee, and
bad figures."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from sequoia.errors import BadProfile
from sequoia.planning.compare_plans import knee
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.roofline import (
    SIZES,
    Roofline,
    RooflineDevice,
    RooflineModel,
    compute,
    fixed_seconds,
    pass_seconds,
)

DEVICE = RooflineDevice("card", memory_gb_per_s=1000, tflops=200, efficiency=0.5, link_gb_per_s=20)
TARGET = RooflineModel("large", parameters=10e9, layers=40, launch_us_per_layer=0)
GOOD: dict[str, Any] = {
    "device": {"name": "card", "memory_gb_per_s": 1000, "tflops": 200, "efficiency": 0.5},
    "target": {"name": "large", "parameters": 10e9, "layers": 40, "launch_us_per_layer": 0},
    "draft": {"name": "small", "parameters": 0.1e9, "layers": 4, "launch_us_per_layer": 25},
    "date": "2026-01-31",
}
PROFILE = HardwareProfile.roofline(**GOOD)


# -- the terms -------------------------------------------------------------------------------------


def test_reading_weights_takes_their_bytes_over_the_bandwidth() -> None:
    """10^10 weights of 2 bytes at 10^12 bytes per second: 20 ms."""
    assert fixed_seconds(TARGET, DEVICE, 0) == pytest.approx(0.02)
    assert fixed_seconds(replace(TARGET, bytes_per_weight=1), DEVICE, 0) == pytest.approx(0.01)


def test_launching_adds_to_reading_but_not_to_copying() -> None:
    """40 layers of 100 microseconds: 4 ms."""
    launched = replace(TARGET, launch_us_per_layer=100)
    assert fixed_seconds(launched, DEVICE, 0) == pytest.approx(0.024)
    assert fixed_seconds(replace(launched, offloaded=1), DEVICE, 0) == pytest.approx(1.0)


def test_offloaded_weights_cross_the_link() -> None:
    """Half of the 20 GB of weights, at 20 GB/s: 0.5 s."""
    half = replace(TARGET, offloaded=0.5)
    assert fixed_seconds(half, DEVICE, 0) == pytest.approx(0.5)
    nearly_none = replace(TARGET, offloaded=1e-6)
    assert fixed_seconds(nearly_none, DEVICE, 0) == pytest.approx(0.02, rel=1e-5)


def test_arithmetic_is_two_operations_for_each_weight_and_node() -> None:
    """2 x 10^10 operations at half of 200 x 10^12 per second: 0.2 ms for each node."""
    assert compute(TARGET, DEVICE, 1) == pytest.approx(0.0002)
    assert compute(TARGET, DEVICE, 50) == pytest.approx(0.01)


def test_a_pass_is_the_smooth_maximum() -> None:
    """The time is flat at first, and at the end proportional to the nodes. Where the two terms
    are equal, the time is 41 % above each."""
    assert pass_seconds(TARGET, DEVICE, 1, 0) == pytest.approx(0.02, rel=1e-4)
    assert pass_seconds(TARGET, DEVICE, 100, 0) == pytest.approx(0.02 * math.sqrt(2))
    assert pass_seconds(TARGET, DEVICE, 1000, 0) == pytest.approx(0.2, rel=0.006)


# -- the profile -----------------------------------------------------------------------------------


def test_a_profile_has_the_times_of_its_roofline() -> None:
    """The profile interpolates between its points. It is within 1 % of the roofline at every size,
    and exact at the points."""
    roofline = Roofline(GOOD["device"], GOOD["target"], GOOD["draft"])
    for n in range(1, 1025):
        assert PROFILE.verify_seconds(n) == pytest.approx(roofline.verify_seconds(n), rel=0.01)
        assert PROFILE.draft_seconds_at(n) == pytest.approx(roofline.draft_seconds_at(n), rel=0.01)
    for n in SIZES:
        assert PROFILE.verify_seconds(n) == roofline.verify_seconds(n)


def test_the_knee_is_where_arithmetic_takes_over() -> None:
    """At the knee, a pass takes twice as long as a pass over one node. Its arithmetic then takes
    sqrt(3) times as long as reading the weights."""
    assert knee(PROFILE) == pytest.approx(100 * math.sqrt(3), rel=0.01)
    slower = {**GOOD["device"], "tflops": 20}
    assert knee(HardwareProfile.roofline(**{**GOOD, "device": slower})) == pytest.approx(17, abs=1)


def test_a_profile_says_that_it_is_simulated_and_for_what() -> None:
    profile = HardwareProfile.roofline(
        **GOOD, prefix_length=300, overhead_seconds=0.001, level_overhead=0.0002, dtype="float16"
    )
    assert profile.source == "simulated"
    assert (profile.device, profile.target, profile.draft) == ("card", "large", "small")
    assert (profile.prefix_length, profile.dtype) == (300, "float16")
    assert profile.plain_seconds == pytest.approx(0.021, rel=1e-3)
    assert profile.overhead(1, 2) == pytest.approx(0.0014)
    assert PROFILE.dtype == "16 bits per weight"


# -- bad figures -----------------------------------------------------------------------------------


BAD: dict[str, tuple[str, str, Any, str]] = {
    "no name": ("device", "name", " ", "device.name: ' '; string should have at least 1 character"),
    "layers": (
        "target",
        "layers",
        0,
        "target.layers: 0; input should be greater than or equal to 1",
    ),
    "no link": (
        "target",
        "offloaded",
        0.5,
        "target: offloaded is 0.5, but the device has no link_gb_per_s; give the link's bandwidth, "
        "or set offloaded to 0",
    ),
    "unknown": ("target", "speed", 1, "target.speed: 1; unexpected keyword argument"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_figure_is_refused_naming_its_part_and_field(what: str) -> None:
    part, name, value, words = BAD[what]
    bad = {**GOOD, part: {**GOOD[part], name: value}}
    with pytest.raises(BadProfile) as caught:
        HardwareProfile.roofline(**bad)
    assert str(caught.value).startswith(words)
    with pytest.raises(BadProfile) as caught:
        HardwareProfile.from_json(file_with(bad))
    assert str(caught.value).startswith(words) or value is math.nan or value is math.inf


# -- files -----------------------------------------------------------------------------------------


def file_with(roofline: Any, **others: Any) -> str:
    return json.dumps({"format": "sequoia-profile", "version": 1, "roofline": roofline, **others})


def test_a_file_may_have_the_parameters_in_place_of_the_curves() -> None:
    assert HardwareProfile.from_json(file_with(GOOD)) == PROFILE


def test_a_saved_profile_has_the_curves() -> None:
    """Older versions of the program can therefore read it. They ignore only `calibrated_nodes`."""
    saved = json.loads(PROFILE.to_json())
    assert "roofline" not in saved
    assert len(saved["target_seconds"]) == len(SIZES)
    assert HardwareProfile.from_json(json.dumps(saved)) == PROFILE
    del saved["calibrated_nodes"]
    older = HardwareProfile.from_json(json.dumps(saved))
    assert older == replace(PROFILE, calibrated_nodes=None)
    assert "calibrated_nodes" not in older.to_dict()


def test_measured_curves_in_a_file_replace_computed_ones() -> None:
    target = [[1, 0.03, 0.001], [64, 0.05, 0.001]]
    draft = [[1, 0.002, 0.0001]]
    half = HardwareProfile.from_json(file_with(GOOD, target_seconds=target, source="recorded"))
    assert half.verify_seconds(1) == 0.03
    assert half.draft_seconds == PROFILE.draft_seconds
    assert half.source == "simulated"
    both = HardwareProfile.from_json(
        file_with(GOOD, target_seconds=target, draft_seconds=draft, source="recorded")
    )
    assert (both.draft_seconds_at(1), both.source) == (0.002, "recorded")


def test_computed_times_are_never_called_measured() -> None:
    assert HardwareProfile.from_json(file_with(GOOD, source="measured")).source == "simulated"


@pytest.mark.parametrize(
    ("roofline", "words"),
    [
        (None, "roofline must be an object with device, target and draft"),
        ({**GOOD, "cls": 1}, "roofline must be an object with device, target and draft"),
    ],
)
def test_a_bad_file_is_refused(roofline: Any, words: str) -> None:
    with pytest.raises(BadProfile) as caught:
        HardwareProfile.from_json(file_with(roofline))
    assert str(caught.value).startswith(words)
