"""Runs the units of an experiment, its small pieces of work, one after another. The entries of each
finished unit are appended to a file, so that an interrupted run can continue. Lists all
experiments."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import BaseModel

from sequoia.algorithm.progress import ShouldStop
from sequoia.errors import SequoiaError
from sequoia.experiments.budget import BUDGET
from sequoia.experiments.chain import TREE_OR_CHAIN
from sequoia.experiments.experiment import Entry, Experiment, Settings, units
from sequoia.experiments.hardware import HARDWARE
from sequoia.experiments.ranks import RANKS
from sequoia.experiments.result import ExperimentResult
from sequoia.experiments.specinfer import SPECINFER_GRID
from sequoia.experiments.verifiers import TEMPERATURE, TOP_P
from sequoia.loading.pair_request import BUNDLED_NAME
from sequoia.models.describe import describe, dtype_name, versions
from sequoia.models.draft import Draft
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.text_files import write_text
from sequoia.validate_input import shown

_SAMPLE = 1024  # elements of each parameter that go into a checksum
Label = Literal["measured", "recorded"]


@dataclass(frozen=True)
class RunProgress:
    """The progress of a run, in units. seconds_left: an estimate, None until this run has finished
    a unit. starts_over: whether there is a file of units that cannot be used, because it is of
    another pair, of other settings or of another version. `result()` returns the result of the
    units that are done when it is called."""

    done: int
    total: int
    seconds_left: float | None
    starts_over: bool
    result: Callable[[], ExperimentResult]


OnProgress = Callable[[RunProgress], None]


def run_experiment(
    experiment: Experiment,
    pair: Pair,
    settings: Settings,
    folder: Path,
    on_progress: OnProgress = lambda _: None,
    should_stop: ShouldStop = lambda: False,
    label: Label = "measured",
) -> ExperimentResult:
    """The result of all units. Once `should_stop()` is true, no further unit starts, and the result
    is that of the finished units. label: that of the measured numbers.

    Finished units are saved in `units_file`. If that file begins with this run's header (see
    `run_header`), its units are not run again. Otherwise the file is replaced. Raises OSError if
    the file cannot be read or written, and the SequoiaError of a unit that fails.
    """
    todo = units(settings)
    total = len(todo)
    log = UnitLog(units_file(experiment, folder), run_header(experiment, pair, settings))

    def result() -> ExperimentResult:
        return complete_result(experiment, pair, settings, log.done, label)

    def report(left: float | None) -> None:
        on_progress(RunProgress(len(log.done), total, left, log.starts_over, result))

    report(None)
    todo = [unit for unit in todo if unit.key not in log.done]
    start = time.monotonic()
    for number, unit in enumerate(todo, 1):
        if should_stop():
            break
        log.add(unit.key, list(experiment.measure(pair, unit)))
        report((time.monotonic() - start) / number * (len(todo) - number))
    return result()


def units_file(experiment: Experiment, folder: Path) -> Path:
    """The file of the experiment's finished units in `folder`."""
    return folder / f"{experiment.name}.jsonl"


def complete_result(
    experiment: Experiment,
    pair: Pair,
    settings: Settings,
    done: Mapping[str, Sequence[Entry]],
    label: Label = "measured",
) -> ExperimentResult:
    """The experiment's rows and ratios of the units in `done`, with pair, machine and counts."""
    rows, ratios = experiment.summary(settings, done)
    target, draft = _model_names(pair)
    return ExperimentResult(
        name=experiment.name,
        label=label,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        target=target,
        draft=draft,
        machine=f"{describe(pair.target.device)}, {dtype_name(pair)}",
        settings=dict(settings),
        rows=rows,
        ratios=ratios,
        done=len(done),
        total=len(units(settings)),
    )


def _model_names(pair: Pair) -> tuple[str, str]:
    """The names to show for the target and the draft."""
    names = (pair.target.name, pair.draft.name)
    return ("bundled target", "bundled draft") if pair.name == BUNDLED_NAME else names


# -- the file of finished units --------------------------------------------------------------------


class _Finished(BaseModel):
    """A line of the file."""

    key: str
    entries: list[Entry]


class UnitLog:
    """A header line, then one line of JSON for each finished unit. A file with another header is
    replaced. A last line that an interruption cut off is removed.

    done: the entries of the finished units, by key. starts_over: whether a file was replaced."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self._path = path
        first = json.dumps(header)
        found, *lines = _whole_lines(path) or [first]
        self.starts_over = found != first
        finished = [] if self.starts_over else [*map(_Finished.model_validate_json, lines)]
        self.done = {one.key: one.entries for one in finished}
        kept = (first, *(one.model_dump_json() for one in finished))
        write_text(path, "".join(f"{line}\n" for line in kept))

    def add(self, key: str, entries: list[Entry]) -> None:
        self.done[key] = entries
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_Finished(key=key, entries=entries).model_dump_json() + "\n")


def _whole_lines(path: Path) -> list[str]:
    """The lines that end in a line break; a last line without one was cut off."""
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    return text[: text.rfind("\n") + 1].splitlines()


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


def _checksum(model: Draft) -> float:
    """The sum over a sample of each parameter's elements. It is cheap to compute, and differs
    between most models; 0 for a lookup, which has no parameters. Parameters on the meta device are
    left out, because they have no data."""
    if not isinstance(model, TreeModel):
        return 0.0
    there = (one.detach() for one in model.hf.parameters() if not one.is_meta)
    return float(sum(_sample(one).double().sum().item() for one in there))


def _sample(parameter: torch.Tensor) -> torch.Tensor:
    """About _SAMPLE evenly spaced elements of `parameter`, or all if it has few."""
    flat = parameter.flatten()
    step = len(flat) // _SAMPLE | 1  # an even step would often stay in one column of a matrix
    return flat[::step]


# -- all experiments -------------------------------------------------------------------------------


# In the order in which they are shown. To add one, define it in a file of its own and list it
# here; its words are in ui/words/experiments.py.
EXPERIMENTS: dict[str, Experiment] = {
    one.name: one
    for one in (BUDGET, TEMPERATURE, TOP_P, RANKS, SPECINFER_GRID, HARDWARE, TREE_OR_CHAIN)
}


def experiment_named(name: str) -> Experiment:
    """The experiment called `name`. If there is none, raises a SequoiaError that lists the known
    names."""
    if not isinstance(name, str) or name not in EXPERIMENTS:
        known = ", ".join(EXPERIMENTS)
        raise SequoiaError(f"unknown experiment {shown(name)}; known: {known}")
    return EXPERIMENTS[name]
