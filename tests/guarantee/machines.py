"""Machines to plan trees for, with times that were made up."""

from __future__ import annotations

import random
from typing import Any

import doors

TIMES: dict[str, Any] = {
    "target_seconds": [(1, 0.02, 0.001), (8, 0.021, 0.001), (64, 0.03, 0.002), (256, 0.06, 0.002)],
    "draft_seconds": [(1, 0.0005, 0.0), (32, 0.0006, 0.0)],
    "overhead_seconds": [(1, 0.001, 0.0), (101, 0.002, 0.0)],
}


def machine(**changes: Any) -> doors.HardwareProfile:
    """The machine with TIMES and `changes`."""
    return doors.profile(**TIMES | changes)


def random_machine(rng: random.Random) -> doors.HardwareProfile:
    """Noisy times that may decrease as passes get larger, and some overhead. A draft pass over one
    node takes about 1 to 50 % of a target pass over one node."""
    base = rng.uniform(0.001, 0.1)
    share = rng.uniform(0.01, 0.5)
    target = [
        (n, base * (1 + n * rng.uniform(0, 0.05)) * rng.uniform(0.9, 1.1), 0.0)
        for n in (1, 2, 4, 8, 16, 32)
    ]
    draft = [
        (n, base * share * (1 + n * rng.uniform(0, 0.2)) * rng.uniform(0.9, 1.1), 0.0)
        for n in (1, 3, 9)
    ]
    return machine(
        target_seconds=target,
        draft_seconds=draft,
        overhead_seconds=base * rng.uniform(0, 0.3),
        level_overhead=base * rng.uniform(0, 0.1),
    )
