"""An experiment: small independent units of work, and the summary of those that are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sequoia.experiments.result import ExperimentResult, Settings
from sequoia.models.pair import Pair

SIZES = ("small", "full")
Done = Mapping[str, Mapping[str, Any]]  # by the unit's key: what the unit returned


@dataclass(frozen=True)
class Unit:
    """A piece of work of at most about 10 s. key: the same in every run with the same settings.
    work: what is to be done, as plain JSON values."""

    key: str
    work: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """question: what it answers, one sentence. sizes: the settings of each of SIZES, plain JSON
    values; "small" takes about a minute with the bundled pair, "full" is what is recorded.

    `units(settings)`: all work, in an order in which the first units already show something.
    `run_unit(pair, unit)`: plain JSON values. Raises SequoiaError, such as BadModel.
    `summary(settings, done)`: the result of the units in `done`, of which there may be none. It
    leaves title, pair, machine and counts to the runner.
    version: raised when units return something different, so that old units are not reused.
    """

    name: str
    title: str
    question: str
    sizes: Mapping[str, Settings]
    units: Callable[[Settings], list[Unit]]
    run_unit: Callable[[Pair, Unit], Mapping[str, Any]]
    summary: Callable[[Settings, Done], ExperimentResult]
    version: int = 1
