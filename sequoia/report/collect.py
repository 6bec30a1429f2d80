"""Runs the stages of a report one after another, and prints their results."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sequoia.report.choose import chosen
from sequoia.report.folder import Folder, write_text_at_once
from sequoia.report.run_stage import run_stage
from sequoia.report.stage import Outcome, Stage

_OTHERS = "not asked for"
_TO_END = 10.0  # seconds of the budget reserved for finishing


@dataclass(frozen=True)
class Wanted:
    """The stages that the user asked for. seconds: the time budget of the whole command. only:
    names of the stages to run, empty for all; a named stage is repeated if it failed or was
    skipped. skip: names of stages to leave out."""

    seconds: float = math.inf
    only: Collection[str] = ()
    skip: Collection[str] = ()


def collect(
    stages: Sequence[Stage],
    folder: Folder,
    wanted: Wanted,
    started: float,
    show: Callable[[str], None] = print,
) -> bool:
    """Run the wanted stages that still have to run, as far as the time allows. Then print the table
    (see `table`) and write it to summary.txt. Returns False if the last result of any stage is
    "failed", even if it is from an earlier run. started: the `time.monotonic()` at which the
    budget began."""
    notes = {stage.name: _not_wanted(stage, wanted) for stage in stages}
    left = [one for one in stages if not notes[one.name] and _is_open(one, folder, wanted)]
    end = started + wanted.seconds - _TO_END
    while best := chosen(left, end - time.monotonic()):
        stage = best[0]
        left.remove(stage)
        show(f"{stage.name}: {stage.about} (about {stage.seconds:.0f} s)")
        outcome = _run(stage, folder, end)
        notes[stage.name] = "" if outcome.status != "cut" else outcome.words
        show(f"  {outcome.status} in {outcome.seconds:.0f} s: {outcome.words}")
    notes |= {one.name: f"no time left: would take about {one.seconds:.0f} s" for one in left}
    found = table(stages, folder, notes)
    write_text_at_once(folder.path / "summary.txt", found + "\n")
    show(f"\n{found}")
    return not any(_status(one, folder) == "failed" for one in stages)


def _run(stage: Stage, folder: Folder, end: float) -> Outcome:
    work = folder.work(stage.name)
    outcome = run_stage(stage, work, folder.scratch, end - time.monotonic())
    if outcome.status != "cut":
        folder.finish(stage.name, outcome)
    return outcome


def _not_wanted(stage: Stage, wanted: Wanted) -> str:
    """Why a stage is not to be run. Empty if it may be run."""
    if wanted.only and stage.name not in wanted.only:
        return _OTHERS
    if stage.name in wanted.skip:
        return "left out with --skip"
    return stage.obstacle


def _is_open(stage: Stage, folder: Folder, wanted: Wanted) -> bool:
    """Whether a stage has to run: it has not ended, or is named by --only and did not succeed."""
    status = _status(stage, folder)
    return status is None or (stage.name in wanted.only and status != "done")


def _status(stage: Stage, folder: Folder) -> str | None:
    found = folder.result(stage.name)
    return found.outcome.status if found and folder.has_ended(stage.name) else None


def table(stages: Sequence[Stage], folder: Folder, notes: dict[str, str]) -> str:
    """A text table with a line for each stage: its status, its seconds, and what it found or why it
    was not run. Stages that --only leaves out are shown only if they have ended. notes: for each
    stage, why it was left out or stopped, "" if it was not."""
    stages = [one for one in stages if notes[one.name] != _OTHERS or folder.result(one.name)]
    wide = max((len(one.name) for one in stages), default=0)
    lines = [f"{'stage':<{wide}}  {'status':<8}{'seconds':>8}  result"]
    for stage in stages:
        found = folder.result(stage.name)
        outcome = found.outcome if found else Outcome("skipped", notes[stage.name])
        seconds = f"{outcome.seconds:.0f}" if outcome.seconds else ""
        lines.append(f"{stage.name:<{wide}}  {outcome.status:<8}{seconds:>8}  {outcome.words}")
    return "\n".join(lines)
