"""The fields that compare a run with plain decoding, in `meta` of a message to the browser."""

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
    """The fields for the steps of a run and of plain decoding. `plain` must have at least one step.

    plain_seconds: seconds per token of `plain`. plain_label: `label`, which says where the times of
    both runs come from. plain_spread: two other values for plain_seconds. With the first, the
    speed-up would be the lower end of its confidence interval; with the second, the upper end (see
    sequoia.diagnosis.speedup_interval). This field is missing if there is no interval.
    """
    seconds = sum(time for _, time in plain) / sum(tokens for tokens, _ in plain)
    meta = {"plain_seconds": seconds, "plain_label": label}
    if found := speedup_interval(run, plain):
        meta["plain_spread"] = [
            seconds * bound / found.speedup for bound in (found.least, found.most)
        ]
    return meta
