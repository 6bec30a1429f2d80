"""Long work: a function to which the share that is done is reported, and one that may stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sequoia.algorithm.step_trace import StepTrace

# Called with the share that is done, 0 to 1, after every pass or step. An exception that it raises
# ends the work.
Progress = Callable[[float], None]
# Asked between two passes or steps; the work ends once it returns True.
ShouldStop = Callable[[], bool]


def progress_of_part(progress: Progress, number: int, of: int) -> Progress:
    """A function that takes the progress of part `number` (from 0) of `of` equal parts, and reports
    the progress of the whole to `progress`."""
    return lambda share: progress((number + share) / of)


def with_progress(steps: Iterable[StepTrace], tokens: int, progress: Progress) -> list[StepTrace]:
    """All of `steps`. After each one, the share of `tokens` emitted so far is reported."""
    traces = []
    emitted = 0
    for trace in steps:
        traces.append(trace)
        emitted += len(trace.emitted)
        progress(min(emitted / tokens, 1.0))
    progress(1.0)
    return traces
