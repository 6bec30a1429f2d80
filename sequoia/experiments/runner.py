"""Runs the units of an experiment, its small pieces of work, one after another. The result of each
finished unit is appended to a file, so that an interrupted run can continue."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from sequoia.algorithm.progress import ShouldStop
from sequoia.experiments.experiment import Done, Experiment
from sequoia.experiments.result import ExperimentResult, Settings
from sequoia.experiments.unit_log import UnitLog
from sequoia.loading.pair_catalog import BUNDLED_NAME
from sequoia.models.describe import describe, dtype_name, versions
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

_SAMPLE = 1024  # elements of each parameter that go into a checksum


@dataclass(frozen=True)
class RunProgress:
    """The progress of a run, in units. seconds_left: an estimate, None until this run has finished
    a unit. message: in a run's first report, why an older file cannot be used; otherwise "".
    `result()` returns the result of the units that are done when it is called."""

    done: int
    total: int
    seconds_left: float | None
    message: str
    result: Callable[[], ExperimentResult]


OnProgress = Callable[[RunProgress], None]


def run_experiment(
    experiment: Experiment,
    pair: Pair,
    settings: Settings,
    folder: Path,
    on_progress: OnProgress = lambda _: None,
    should_stop: ShouldStop = lambda: False,
) -> ExperimentResult:
    """The result of all units. Once `should_stop()` is true, no further unit starts, and the result
    is that of the finished units.

    Finished units are saved in `units_file`. If that file begins with this run's header (see
    `run_header`), its units are not run again. Otherwise the file is replaced. Raises OSError if
    the file cannot be read or written, and the SequoiaError of a unit that fails.
    """
    units = experiment.units(settings)
    keys = {unit.key for unit in units}
    header = run_header(experiment, pair, settings)
    log = UnitLog.open(units_file(experiment, folder), header)
    done: dict[str, Any] = {key: found for key, found in log.found.items() if key in keys}

    def result() -> ExperimentResult:
        return complete_result(experiment, pair, settings, dict(done), len(units))

    def report(left: float | None, message: str = "") -> None:
        on_progress(RunProgress(len(done), len(units), left, message, result))

    report(None, log.message)
    todo = [unit for unit in units if unit.key not in done]
    start = time.monotonic()
    for number, unit in enumerate(todo, 1):
        if should_stop():
            break
        done[unit.key] = log.add(unit.key, experiment.run_unit(pair, unit))
        report((time.monotonic() - start) / number * (len(todo) - number))
    return result()


def units_file(experiment: Experiment, folder: Path) -> Path:
    """The file of the experiment's finished units in `folder`."""
    return folder / f"{experiment.name}.jsonl"


def complete_result(
    experiment: Experiment, pair: Pair, settings: Settings, done: Done, total: int
) -> ExperimentResult:
    """The experiment's summary of `done`, with title, pair, machine and counts."""
    target, draft = _model_names(pair)
    return replace(
        experiment.summary(settings, done),
        name=experiment.name,
        title=experiment.title,
        question=experiment.question,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        target=target,
        draft=draft,
        machine=f"{describe(pair.target.device)}, {dtype_name(pair)}",
        settings=dict(settings),
        done=len(done),
        total=total,
    )


def _model_names(pair: Pair) -> tuple[str, str]:
    """The names to show for the target and the draft."""
    names = (pair.target.name, pair.draft.name)
    return ("bundled target", "bundled draft") if pair.name == BUNDLED_NAME else names


def run_header(experiment: Experiment, pair: Pair, settings: Settings) -> dict[str, Any]:
    """The content of the first line of the file of finished units. Two runs can share units only
    if their headers are equal."""
    return {
        "experiment": experiment.name,
        "experiment version": experiment.version,
        "pair": dict(_identity(pair)),
        "settings": dict(settings),
        "versions": dict(versions()),
    }


def _identity(pair: Pair) -> Iterator[tuple[str, Any]]:
    yield "name", pair.name
    yield "numbers", dtype_name(pair)
    yield "vocabulary", pair.target.vocab
    for role, model in (("target", pair.target), ("draft", pair.draft)):
        yield role, [model.name, _checksum(model)]


def _checksum(model: TreeModel) -> float:
    """The sum over a sample of each parameter's elements. It is cheap to compute, and differs
    between most models. Parameters on the meta device are left out, because they have no data."""
    there = (one.detach() for one in model.hf.parameters() if not one.is_meta)
    return float(sum(_sample(one).double().sum().item() for one in there))


def _sample(parameter: torch.Tensor) -> torch.Tensor:
    """About _SAMPLE evenly spaced elements of `parameter`, or all if it has few."""
    flat = parameter.flatten()
    step = len(flat) // _SAMPLE | 1  # an even step would often stay in one column of a matrix
    return flat[::step]
