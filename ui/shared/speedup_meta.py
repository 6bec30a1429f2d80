"""The fields that compare a run with plain decoding, in `meta` of a message to the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sequoia import StepTrace
from sequoia.diagnosis.compare_runs import (
    LaneRun,
    LaneRuns,
    Speedup,
    Step,
    compared_tokens,
    speedup,
)

Timed = tuple[LaneRun, LaneRun]  # a run, and plain decoding of the same prompt


def step_of(trace: StepTrace) -> Step:
    """The number of emitted tokens and the seconds of a step."""
    return len(trace.emitted), trace.total_seconds


def compared_with_plain(runs: Sequence[Timed], label: str = "measured") -> dict[str, Any]:
    """The fields for a run and plain decoding of the same prompt, and for further runs of both with
    other seeds. Each must have at least one step that took more than 0 seconds.

    plain_seconds: seconds per token of the first plain run. speedup: see `speedup_meta`.
    """
    run, plain = (
        LaneRuns("", kind, lane)
        for kind, lane in zip(("tree", "plain"), zip(*runs, strict=True), strict=True)
    )
    first = plain.runs[0]
    return {
        "plain_seconds": sum(seconds for _, seconds in first.steps) / first.tokens,
        "speedup": speedup_meta(speedup(run, plain), runs, label),
    }


def speedup_meta(found: Speedup, runs: Sequence[Timed], label: str) -> dict[str, Any]:
    """The field `speedup`: the fields of `Speedup`, and

    runs: how many runs it is computed from. seconds: per token of the first run and of its plain
    run, over the text that was compared. label: where the times come from.
    """
    run, plain = runs[0]
    tokens, _ = compared_tokens(run, plain)
    seconds = [
        float(one.segments(length, 1)[1].sum()) / length
        for one, length in zip((run, plain), tokens, strict=True)
    ]
    return {**found.to_dict(), "runs": len(runs), "seconds": seconds, "label": label}


def plain_meta(
    seconds: Sequence[float], texts: Sequence[str], same: int, finish: str, limit: float = 0.0
) -> dict[str, Any]:
    """The field `plain`: seconds and text of each step of plain decoding, and

    same: how many tokens of the run are the same from the start. finish: why plain decoding ended.
    limit: the seconds after which it is stopped, with the finish "time".
    """
    times = [round(one, 7) for one in seconds]
    return {
        "seconds": times,
        "text": list(texts),
        "same": same,
        "finish": finish,
        "limit": limit,
    }
