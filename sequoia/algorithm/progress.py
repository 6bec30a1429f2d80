"""How far a piece of work is: a function that is told the share done."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sequoia.algorithm.step_trace import StepTrace

# told the share done, 0 to 1, after every pass or step; what it raises ends the measurement
Progress = Callable[[float], None]


def progress_of_part(progress: Progress, number: int, of: int) -> Progress:
    """The progress of part `number`, from 0 on, of `of` equal ones, told as that of the whole."""
    return lambda share: progress((number + share) / of)


def with_progress(steps: Iterable[StepTrace], tokens: int, progress: Progress) -> list[StepTrace]:
    """All of `steps`, with the share made of `tokens` told after each."""
    traces = []
    made = 0
    for trace in steps:
        traces.append(trace)
        made += len(trace.emitted)
        progress(min(made / tokens, 1.0))
    progress(1.0)
    return traces
