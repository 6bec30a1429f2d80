"""A batch as a what-if: B texts decoded at once, each with a tree of its own. A pass over trees of
n nodes is then a pass over B x n nodes. All B take the step together, so speed-ups are over plain
decoding of the same batch. Not modelled: that each text reads its own KV cache."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sequoia.algorithm.acceptance import Acceptance
from sequoia.planning.hardware_profile import HardwareProfile, Point
from sequoia.planning.plan_for_machine import USUAL_NODES, Plan, best_chain, best_plan

BATCHES = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class AtBatch:
    """The fastest tree and the fastest chain for a batch. Each is a single node, plain decoding, if
    nothing is faster."""

    batch: int
    tree: Plan
    chain: Plan


def for_batch(profile: HardwareProfile, batch: int) -> HardwareProfile:
    """The simulated times of `batch` texts at once, by the nodes of one text's tree. Above the
    largest size of `profile`, they are extrapolated as it says."""

    def at_once(points: tuple[Point, ...], at: str) -> tuple[Point, ...]:
        known = [size for size, *_ in points]
        sizes = sorted({1, *known, *(math.ceil(size / batch) for size in known)})
        seconds = getattr(profile, at)
        return tuple((size, seconds(size * batch), 0.0) for size in sizes if size <= USUAL_NODES)

    return replace(
        profile,
        target_seconds=at_once(profile.target_seconds, "verify_seconds"),
        draft_seconds=at_once(profile.draft_seconds, "draft_seconds_at"),
        overhead_seconds=at_once(profile.overhead_seconds, "overhead"),
        source="simulated",
    )


def at_batches(acceptance: Acceptance, profile: HardwareProfile, nodes: int) -> list[AtBatch]:
    """The plans for each of BATCHES, with at most `nodes` nodes, and no more than USUAL_NODES."""
    most = min(nodes, USUAL_NODES)
    times = [(batch, for_batch(profile, batch)) for batch in BATCHES]
    return [
        AtBatch(batch, best_plan(acceptance, one, most), best_chain(acceptance, one, min(most, 16)))
        for batch, one in times
    ]
