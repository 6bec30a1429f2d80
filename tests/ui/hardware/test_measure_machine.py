"""A measurement that other programs slowed down does not replace a better one, unless a second one
finds the same."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from sequoia import Acceptance, HardwareProfile
from sequoia.models.pair import PairCache, RecordedAcceptance
from ui.hardware import profile_job as measuring
from ui.hardware.profile_job import measure_machine


def profile(seconds: float, spread: float = 0.02) -> HardwareProfile:
    """A profile whose passes take `seconds`. spread: as a fraction of that."""
    points = tuple((n, seconds * n, seconds * n * spread) for n in (1, 2, 4))
    return HardwareProfile("d", "f", "t", "q", 8, points, points, "measured", "2026-01-01", points)


@pytest.fixture
def pair() -> Any:
    known = RecordedAcceptance(0.6, Acceptance((0.7, 0.1, 0.05)))
    return SimpleNamespace(measured=PairCache(), known=(known,))


@pytest.fixture
def measured(pair: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Measures, and finds the given profile."""

    def measure(found: HardwareProfile) -> measuring.Measurement:
        monkeypatch.setattr(measuring, "measure_profile", lambda *_, **__: found)
        return measure_machine(pair)

    return measure


QUIET = profile(0.010)


@pytest.mark.parametrize("found", [profile(0.0105), profile(0.012, 0.1), profile(0.005, 0.15)])
def test_a_good_measurement_replaces_the_last(measured: Any, pair: Any, found: Any) -> None:
    measured(QUIET)
    assert measured(found).is_used
    assert pair.measured.profile is found


@pytest.mark.parametrize(
    ("found", "slower", "unsteady"),
    [(profile(0.020), 2.0, None), (profile(0.011, 0.5), None, 0.5)],
    ids=["slower", "unsteady"],
)
def test_a_disturbed_measurement_is_kept_out(
    measured: Any, pair: Any, found: Any, slower: float | None, unsteady: float | None
) -> None:
    measured(QUIET)
    disturbed = measured(found)
    assert disturbed.slower == pytest.approx(slower)
    assert disturbed.unsteady == pytest.approx(unsteady)
    assert pair.measured.profile is QUIET
    assert not measured(replace(QUIET)).is_doubted


def test_a_measurement_that_differs_by_chance_keeps_the_trees(measured: Any, pair: Any) -> None:
    pair.measured.profile = profile(0.010)  # measured quickly at the start
    assert measured(QUIET).is_used
    again = measured(profile(0.0101))
    assert not again.is_used
    assert again.same == pytest.approx(0.02)
    assert pair.measured.profile is QUIET
    flat = tuple((n, 0.010, 0.0002) for n in (1, 2, 4))  # trees pay now
    found = replace(QUIET, target_seconds=flat, draft_seconds=((1, 0.0001, 0.0),))
    assert measured(found).is_used


def test_a_second_measurement_that_finds_the_same_is_used(measured: Any, pair: Any) -> None:
    """The machine itself may have become slower."""
    measured(QUIET)
    assert not measured(profile(0.020)).is_used
    again = profile(0.022)
    assert measured(again).is_used
    assert pair.measured.profile is again


def test_two_disturbed_measurements_that_differ_are_kept_out(measured: Any, pair: Any) -> None:
    measured(QUIET)
    assert not measured(profile(0.020)).is_used
    assert not measured(profile(0.040)).is_used
    assert pair.measured.profile is QUIET


def test_an_unsteady_machine_is_measured_all_the_same(measured: Any, pair: Any) -> None:
    """All measurements of some machines are unsteady."""
    measured(profile(0.010, 0.3))
    found = profile(0.011, 0.35)
    assert measured(found).is_used
    assert pair.measured.profile is found
