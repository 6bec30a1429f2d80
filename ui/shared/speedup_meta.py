"""A run compared with plain decoding: the meta fields from which every view computes the same
speed-up and confidence interval (sequoia.diagnosis.speedup_interval)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sequoia import StepTrace
from sequoia.diagnosis.speedup_interval import Step, speedup_interval


def step_of(trace: StepTrace) -> Step:
    """Tokens and seconds of a step."""
    return len(trace.emitted), trace.total_seconds


def compared_with_plain(
    run: Sequence[Step], plain: Sequence[Step], label: str = "measured"
) -> dict[str, Any]:
    """Seconds per token of `plain`, which has at least one step. If both runs are long enough, also
    the two values of it at which the speed-up of `run` would equal the ends of its confidence
    interval. label: where the times of both come from; it must be the same."""
    seconds = sum(time for _, time in plain) / sum(tokens for tokens, _ in plain)
    meta = {"plain_seconds": seconds, "plain_label": label}
    if found := speedup_interval(run, plain):
        meta["plain_spread"] = [
            seconds * bound / found.speedup for bound in (found.least, found.most)
        ]
    return meta
