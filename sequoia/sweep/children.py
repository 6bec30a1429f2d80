"""Runs trials (see trial.py) in child processes, so that a crash or an endless loop in a model's
code is just another outcome."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging as transformers_logging

from sequoia.sweep.trial import Outcome, try_config
from sequoia.sweep.variants import Changes, variants

SECONDS = 120.0  # limit for one variant; most take less than a second
Trial = Callable[[str, Mapping[str, Any], Path], Outcome]


def outcomes(kind: str, most: int | None = None, trial: Trial = try_config) -> dict[str, Outcome]:
    """The outcome of `trial` for each variant of the model type `kind`, by the variant's name. If
    the type has no valid toy config, the only outcome is that of "base", with the status "no
    config". most: the largest number of variants to test."""
    try:
        left = list(variants(kind).items())[:most]
    except Exception as problem:  # raised by the type's own validation
        return {"base": Outcome("no config", f"{type(problem).__name__}: {problem}")}
    found: dict[str, Outcome] = {}
    while left:
        found.update(_in_a_child(trial, kind, left))
        left = [one for one in left if one[0] not in found]
    return found


def _in_a_child(
    trial: Trial, kind: str, tasks: Sequence[tuple[str, Changes]]
) -> Iterator[tuple[str, Outcome]]:
    """Run `tasks` in one child process, and yield each name and outcome. If the process ends early
    or hangs, the last outcome is "crashed", and later tasks have none."""
    ours, its = multiprocessing.Pipe()
    with tempfile.TemporaryDirectory() as folder:
        child = _context().Process(
            target=_work, args=(trial, kind, tasks, folder, its), daemon=True
        )
        child.start()
        its.close()
        for name, _ in tasks:
            outcome = _received(ours)
            yield name, outcome or Outcome("crashed", _end(child))
            if outcome is None:
                break
        child.kill()
        child.join()


def _received(ours: Connection) -> Outcome | None:
    """The next outcome; None if the process ends, or sends nothing for SECONDS."""
    try:
        return ours.recv() if ours.poll(SECONDS) else None
    except EOFError:
        return None


def _end(child: Any) -> str:
    """Why `child` sent no outcome, in words."""
    child.join(1)
    if child.exitcode is None:
        return f"no result within {SECONDS:g} s"
    return f"the process ended with status {child.exitcode}"


def _work(
    trial: Trial, kind: str, tasks: Sequence[tuple[str, Changes]], folder: str, its: Connection
) -> None:
    torch.set_num_threads(1)
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    for number, (_, changes) in enumerate(tasks):
        its.send(trial(kind, changes, Path(folder) / str(number)))


def _context() -> Any:
    """A multiprocessing context. If possible, children are forked from a server that has already
    imported this module."""
    methods = multiprocessing.get_all_start_methods()
    if "forkserver" not in methods:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context
