"""An experiment: a grid of small units of work, a measurement of one unit, and the pairs of lanes
that are compared. A lane is a decoder: a tree with a verifier."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from pydantic import Field

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.experiments.result import At, Finite, Ratio, Row, mean_of, ratio_of
from sequoia.models.pair import Pair

SIZES = ("small", "full")
Settings = Mapping[str, Any]  # plain JSON values


def grid(kinds: Sequence[str], prompts: int, tokens: int, **axes: Any) -> Settings:
    """The settings of a run: `prompts` prompts of each of `kinds` of text, each continued by
    `tokens` tokens, for each value of `axes`."""
    return {"kinds": [*kinds], "prompts": prompts, "tokens": tokens, **axes}


class Entry(Finite):
    """What a unit measured in one lane. at, about: as in Row, without the axes of the unit."""

    lane: str
    figures: dict[str, float]
    at: At = Field(default_factory=dict)
    about: At = Field(default_factory=dict)


@dataclass(frozen=True)
class Unit:
    """The prompt `number` of one case, with the settings of the run. It should take 10 s or less,
    because a run can be stopped only between units."""

    at: At
    number: int
    settings: Settings

    @property
    def kind(self) -> str:
        """The kind of text."""
        return str(self.at["kind"])

    @property
    def params(self) -> SamplingParams:
        """Those of the unit's text. The seed is the number of the prompt."""
        temperature, top_p = float(self.at["temperature"]), float(self.at.get("top_p", 1.0))
        return SamplingParams(
            temperature, top_p, self.settings["tokens"], self.number, ignore_eos=True
        )

    @property
    def key(self) -> str:
        """Identifies the unit in every run with the same settings."""
        words = (f"{axis} {value}" for axis, value in self.at.items())
        return f"{', '.join(words)}, prompt {self.number + 1}"


def cases(settings: Settings) -> list[At]:
    """All combinations of the settings' kinds of text, temperatures (or conditions: a temperature
    and a draft) and values of top-p."""
    conditions = settings.get("conditions") or [[one] for one in settings["temperatures"]]
    cuts = [{"top_p": top_p} for top_p in settings.get("top_ps", ())] or [{}]
    return [
        {"kind": kind, **dict(zip(("temperature", "draft"), condition, strict=False)), **cut}
        for kind, condition, cut in product(settings["kinds"], conditions, cuts)
    ]


def units(settings: Settings) -> list[Unit]:
    """A unit for each prompt of each case: the first prompt of every case, then the second of every
    case, and so on. So the first few units already give a rough result."""
    return [
        Unit(case, number, settings)
        for number in range(settings["prompts"])
        for case in cases(settings)
    ]


@dataclass(frozen=True)
class Cell:
    """The entries of one lane at one place, one for each finished prompt. at: the place, with the
    axes of the unit."""

    lane: str
    at: At
    about: At = field(default_factory=dict)
    found: list[Mapping[str, float]] = field(default_factory=list)

    def values(self, figure: str) -> list[float]:
        return [one[figure] for one in self.found]

    def mean(self, figure: str) -> float:
        return statistics.fmean(self.values(figure))

    @property
    def row(self) -> Row:
        figures = {name: mean_of(self.values(name)) for name in self.found[0]}
        return Row(lane=self.lane, at=self.at, about=self.about, figures=figures)


Places = Sequence[Mapping[str, Cell]]  # for each place, its cells by lane


@dataclass(frozen=True)
class Experiment:
    """question: the question that the experiment answers, in one sentence. sizes: the settings of
    each size in SIZES, as plain JSON values. "small" takes about a minute with the bundled
    models. The results that come with the program use "full".

    `measure(pair, unit)` gives the entries of a unit, or raises a SequoiaError.
    `pairs(settings, places)` gives the cells whose figure `compared` is compared, ours first.
    version: increase it when `measure` begins to give something different. Units that an older
    version saved are then run again.
    """

    name: str
    question: str
    sizes: Mapping[str, Settings]
    measure: Callable[[Pair, Unit], Iterable[Entry]]
    pairs: Callable[[Settings, Places], Iterable[tuple[Cell, Cell]]]
    compared: str = "tokens"
    version: int = 1

    def summary(
        self, settings: Settings, done: Mapping[str, Sequence[Entry]]
    ) -> tuple[tuple[Row, ...], tuple[Ratio, ...]]:
        """The rows and ratios of the finished units in `done`, by unit key."""
        places = _places(settings, done)
        ratios = (
            Ratio(
                one=one.lane,
                other=other.lane,
                at=one.at,
                ratio=ratio_of(one.values(self.compared), other.values(self.compared)),
            )
            for one, other in self.pairs(settings, places)
        )
        return tuple(cell.row for lanes in places for cell in lanes.values()), tuple(ratios)


def _places(settings: Settings, done: Mapping[str, Sequence[Entry]]) -> Places:
    """Machine by machine, if the experiment compares machines."""
    places = dict[tuple[Any, ...], dict[str, Cell]]()
    for unit in units(settings):
        for entry in done.get(unit.key, ()):
            at = {**unit.at, **entry.at}
            lanes = places.setdefault((*at.items(),), {})
            cell = lanes.setdefault(entry.lane, Cell(entry.lane, at, entry.about))
            cell.found.append(entry.figures)
    machines = settings.get("machines", [None])
    return sorted(
        places.values(),
        key=lambda lanes: machines.index(next(iter(lanes.values())).at.get("machine")),
    )
