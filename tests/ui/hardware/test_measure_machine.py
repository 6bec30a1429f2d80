"""A measurement that differs from the last by chance only does not replace it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from sequoia import Acceptance, HardwareProfile
from sequoia.models.pair import PairCache, RecordedAcceptance
from ui.hardware import profile_job
from ui.hardware.profile_job import measure_machine


def profile(seconds: float, spread: float = 0.02) -> HardwareProfile:
    """A profile whose passes take `seconds`. spread: as a fraction of that."""
    points = tuple((n, seconds * n, seconds * n * spread) for n in (1, 2, 4))
    return HardwareProfile("d", "f", "t", "q", 8, points, points, "measured", "2026-01-01", points)


def test_a_measurement_that_differs_by_chance_keeps_the_trees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = RecordedAcceptance(0.6, Acceptance((0.7, 0.1, 0.05)))
    pair: SimpleNamespace = SimpleNamespace(measured=PairCache(), known=(known,))
    quiet = profile(0.010)
    flat = tuple((n, 0.010, 0.0002) for n in (1, 2, 4))  # trees pay
    found = iter(
        [quiet, profile(0.0101), replace(quiet, target_seconds=flat, draft_seconds=((1, 1e-4, 0),))]
    )
    monkeypatch.setattr(profile_job, "measure_profile", lambda *_, **__: next(found))
    pair.measured.profile = profile(0.010)  # measured quickly at the start
    assert measure_machine(pair).same is None  # type: ignore[arg-type]
    assert pair.measured.profile is quiet
    assert measure_machine(pair).same == pytest.approx(0.02)  # type: ignore[arg-type]
    assert pair.measured.profile is quiet
    assert measure_machine(pair).same is None  # type: ignore[arg-type]
    assert pair.measured.profile is not quiet
