"""Callbacks of long work: one receives the share that is done, the other can stop the work."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sequoia.algorithm.step_trace import StepTrace

# Called with the share that is done, 0 to 1, often after every pass or step. An exception that it
# raises ends the work.
Progress = Callable[[float], None]
# Called again and again, often between passes or steps; the work ends once it returns True.
ShouldStop = Callable[[], bool]


def progress_of_part(progress: Progress, number: int, parts: int) -> Progress:
    """The callback for part `number` (from 0) of work that consists of `parts` equal parts. It
    converts the progress of that part to the progress of the whole, which it reports to
    `progress`."""
    return lambda share: progress((number + share) / parts)


def with_progress(steps: Iterable[StepTrace], tokens: int, progress: Progress) -> list[StepTrace]:
    """All of `steps`, as a list. After each step, reports the number of tokens emitted so far,
    divided by `tokens`; at the end, reports 1, however many there were."""
    traces = []
    emitted = 0
    for trace in steps:
        traces.append(trace)
        emitted += len(trace.emitted)
        progress(min(emitted / tokens, 1.0))
    progress(1.0)
    return traces
