"""An experiment: small independent units of work, and a summary of the finished units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sequoia.experiments.result import ExperimentResult, Settings
from sequoia.models.pair import Pair

SIZES = ("small", "full")
Done = Mapping[str, Mapping[str, Any]]  # unit key -> what `run_unit` returned for it


@dataclass(frozen=True)
class Unit:
    """A piece of work. It should take 10 s or less, because a run can be stopped only between
    units. key: identifies the unit in every run with the same settings. work: the input of
    `run_unit`, as plain JSON values."""

    key: str
    work: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """question: the question that the experiment answers, in one sentence. sizes: the settings of
    each size in SIZES, as plain JSON values. "small" takes about a minute with the bundled
    models. The results that come with the program use "full".

    `units(settings)` returns all units, ordered so that the first few already give a rough result.
    `run_unit(pair, unit)` returns plain JSON values, or raises a SequoiaError.
    `summary(settings, done)` returns the result of the units in `done`, which may be empty.
    ExperimentResult says which fields the summary fills in.
    note: what a reader of the plots and tables has to know, in full sentences. It may have several
    lines. table: what the numbers in the table are, if its columns do not say so.
    version: increase it when `run_unit` begins to return something different. Units that an older
    version saved are then run again.
    """

    name: str
    title: str
    question: str
    sizes: Mapping[str, Settings]
    units: Callable[[Settings], list[Unit]]
    run_unit: Callable[[Pair, Unit], Mapping[str, Any]]
    summary: Callable[[Settings, Done], ExperimentResult]
    note: str = ""
    table: str = ""
    version: int = 1
