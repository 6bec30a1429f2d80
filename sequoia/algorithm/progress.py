"""Callbacks of long work: `Progress` receives the share that is done, and `ShouldStop` says whether
to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sequoia.algorithm.step_trace import StepTrace

# Called with the share that is done, 0 to 1, usually after each pass or step. An exception that the
# callback raises ends the work.
Progress = Callable[[float], None]
# Called repeatedly, usually between passes or steps. Once it returns True, the work ends.
ShouldStop = Callable[[], bool]


def progress_of_part(progress: Progress, number: int, parts: int) -> Progress:
    """The callback for part `number` (from 0) of work that consists of `parts` equal parts. It
    converts the progress of that part to the progress of the whole, which it reports to
    `progress`."""
    return lambda share: progress((number + share) / parts)


def with_progress(steps: Iterable[StepTrace], tokens: int, progress: Progress) -> list[StepTrace]:
    """All of `steps`, as a list. After each step, reports the number of tokens emitted so far,
    divided by `tokens`, but at most 1. Reports 1 at the end, even if fewer were emitted."""
    traces = []
    emitted = 0
    for trace in steps:
        traces.append(trace)
        emitted += len(trace.emitted)
        progress(min(emitted / tokens, 1.0))
    progress(1.0)
    return traces
