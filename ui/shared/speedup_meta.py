"""A run beside plain decoding: what its meta say of the speed-up and its range, which is the same
everywhere (sequoia.diagnosis.speedup_interval)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sequoia import StepTrace
from sequoia.diagnosis.speedup_interval import Step, speedup_interval


def step_of(trace: StepTrace) -> Step:
    """Tokens and seconds of a step."""
    return len(trace.emitted), trace.total_seconds


def compared_with_plain(run: Sequence[Step], plain: Sequence[Step]) -> dict[str, Any]:
    """Seconds a token of `plain`, at least one step, and where both runs are long enough
    the seconds between which they would have to lie for the speed-up of `run` to have the
    ends of its range."""
    seconds = sum(time for _, time in plain) / sum(tokens for tokens, _ in plain)
    meta = {"plain_seconds": seconds, "plain_label": "measured"}
    if found := speedup_interval(run, plain):
        meta["plain_spread"] = [
            seconds * bound / found.speedup for bound in (found.least, found.most)
        ]
    return meta
