"""A machine, an acceptance vector and the plans for both, which several tests use."""

from __future__ import annotations

from sequoia.algorithm.acceptance import Acceptance
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import speedup_grid

PROFILE = HardwareProfile(
    device="one card",
    dtype="float16",
    target="large",
    draft="small",
    prefix_length=128,
    source="simulated",
    date="2025-01-31",
    target_seconds=((1, 0.02, 0.001), (8, 0.021, 0.001), (64, 0.03, 0.002), (128, 0.06, 0.002)),
    draft_seconds=((1, 0.0015, 0.0), (32, 0.0016, 0.0)),
    overhead_seconds=((1, 0.001, 0.0), (101, 0.002, 0.0)),
)
RATES = Acceptance((0.6, 0.15, 0.08, 0.04, 0.02))
LEVELS = tuple(range(1, 13))
GRID = speedup_grid(RATES, PROFILE, tuple(range(1, 65)), LEVELS)
