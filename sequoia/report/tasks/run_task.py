"""Runs a task by name and writes its outcome to the current folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sequoia.errors import OutOfMemory
from sequoia.report.folder import write_at_once
from sequoia.report.run_stage import OUTCOME
from sequoia.report.stage import Outcome
from sequoia.report.tasks import machine, pairs, shapes
from sequoia.report.tasks.card_checks import (
    attention,
    crossing,
    distribution,
    graphs,
    memory,
    offload,
    recovery,
    sanitizer,
)
from sequoia.report.tasks.found import Found

TASKS: Mapping[str, Callable[..., Found]] = {
    "machine": machine.machine,
    "environment": machine.environment,
    "bandwidth": machine.bandwidth,
    "pair": pairs.pair,
    "profile": pairs.profile,
    "shape": shapes.shape,
    "graphs": graphs.graphs,
    "attention": attention.attention,
    "distribution": distribution.distribution,
    "recovery": recovery.recovery,
    "offload": offload.offload,
    "memory": memory.memory,
    "crossing": crossing.crossing,
    "sanitizer": sanitizer.sanitizer,
}


def main(argv: Sequence[str]) -> int:
    """Run the task named argv[0] with the arguments argv[1:], and write its outcome."""
    name, *arguments = argv
    write_at_once(Path(OUTCOME), outcome_of(TASKS[name], arguments).to_dict())
    return 0


def outcome_of(task: Callable[..., Found], arguments: Sequence[str]) -> Outcome:
    """The outcome of calling `task` with `arguments`. A task that raises OutOfMemory counts as
    skipped."""
    try:
        found = task(*arguments)
    except OutOfMemory as problem:
        return Outcome("skipped", str(problem))
    print(found.words)
    return Outcome("done" if found.is_right else "failed", found.words, figures=found.figures)
