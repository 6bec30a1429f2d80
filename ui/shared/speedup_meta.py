"""A run compared with plain decoding: the fields of a message's `meta` from which every view
computes the same speed-up and confidence interval (sequoia.diagnosis.speedup_interval)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sequoia import StepTrace
from sequoia.diagnosis.speedup_interval import Step, speedup_interval


def step_of(trace: StepTrace) -> Step:
    """The number of emitted tokens and the seconds of a step."""
    return len(trace.emitted), trace.total_seconds


def compared_with_plain(
    run: Sequence[Step], plain: Sequence[Step], label: str = "measured"
) -> dict[str, Any]:
    """The `meta` fields that compare a run with plain decoding. `run` and `plain`: their steps.

    plain_seconds: seconds per token of `plain`, which must have at least one step. plain_label:
    `label`, where the times of both runs come from. plain_spread, only if both runs are long enough
    and took some time: the two values of plain_seconds at which the speed-up of `run` would equal
    the lower and the upper end of its confidence interval.
    """
    seconds = sum(time for _, time in plain) / sum(tokens for tokens, _ in plain)
    meta = {"plain_seconds": seconds, "plain_label": label}
    if found := speedup_interval(run, plain):
        meta["plain_spread"] = [
            seconds * bound / found.speedup for bound in (found.least, found.most)
        ]
    return meta
