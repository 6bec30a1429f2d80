"""A race as one JSON file: the run of every lane, and the results of the analysis after the race.
Files are read and written without the models.

A file: {format: "sequoia-race", version: 1, meta, lanes: [{name, how, verifier, plain, most,
changes, on, run}], results, pool, expected}. For the fields of a lane see `LaneLog`. `run` is the
content of a run file (see run_file.py). `on` is missing in older files and in races of one prompt.
`results` has a result or null for each lane (see `checked`). `pool` contains the race's further
runs, with other prompts or seeds (see pooled_runs.py). `expected` has the expected steps or null
for each lane (see check_fields.py). `results`, `pool` and `expected` may each be null or missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.errors import BadTrace
from sequoia.saved_files.check_fields import (
    MAX_HOW,
    expected_of,
    expected_to_dict,
    list_of,
    text_of,
)
from sequoia.saved_files.pooled_runs import Pool
from sequoia.saved_files.run_file import MAX_STEPS, Run, checked_meta, clock_of
from sequoia.validate_input import (
    MAX_JSON_BYTES,
    as_file,
    number,
    one_of,
    read_dict,
    read_file,
    shown,
    truth,
    whole,
    write_file,
)

MOST_LANES = 4
# The verdicts on whether decoding was lossless, by their names in files. At temperature 0: "exact",
# "tie", "bug" and "undecided". At higher temperatures: "law" (the samples fit the distribution),
# "poor" (they fit it poorly), "bug", and "blind" (no difference could have been found). "none":
# there was nothing, or too little, to compare.
KINDS = ("exact", "tie", "bug", "undecided", "law", "poor", "blind", "none")
# how the speed-up of a remedy was obtained; "run": as the speed-ups of the race itself
LABELS = ("predicted", "predicted, what if", "run")
CHECK_LABELS = ("measured", "recorded")
MAX_WORDS = 2000
MAX_NAME = 200
MAX_BARS = 8
MAX_REMEDIES = 32
MAX_CELLS = 24
MAX_CONTEXT = 120
MAX_DRAWS = 1_000_000
_LARGEST = 1e12
Result = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class LaneLog:
    """One lane of a race. how: its tree in words. plain: whether it decodes without a draft, so
    that the tree of every step has only one node. most: the most nodes that a tree of this lane may
    have. changes: whether the tree changes from step to step. on: in a race of two prompts, the
    name of this lane's prompt, such as "code"; otherwise ""."""

    name: str
    how: str
    verifier: str
    plain: bool
    most: int
    changes: bool
    run: Run
    on: str = ""

    @property
    def prompt(self) -> str:
        """The prompt of the run."""
        return str(self.run.meta.get("prompt", ""))

    @property
    def full_name(self) -> str:
        """The lane's name, followed by "on" and the prompt's name in a race of two prompts."""
        return f"{self.name} on {self.on}" if self.on else self.name

    @property
    def without_run(self) -> dict[str, Any]:
        """All fields except the run, by name."""
        names = [field.name for field in fields(self) if field.name != "run"]
        return {name: getattr(self, name) for name in names}

    @property
    def fields_of_a_file(self) -> dict[str, Any]:
        """The lane's fields in a race file, except the run. `on` is omitted if it is empty."""
        return {name: value for name, value in self.without_run.items() if value or name != "on"}


@dataclass(frozen=True)
class RaceLog:
    """A race, as far as it has run. Raises BadTrace if the lanes have different clocks (see `Run`),
    or if the clock in `meta` is not valid (see `clock_of`).

    meta: the description that all lanes share. results: the analysis of each lane, None for a lane
    without one. pool: the further runs. expected: the expected steps of each lane, None for a lane
    where they are not known. results, pool and expected are None if the race has none.
    """

    meta: Mapping[str, Any]
    lanes: tuple[LaneLog, ...]
    results: tuple[Result | None, ...] | None = None
    pool: Pool | None = None
    expected: tuple[ExpectedSteps | None, ...] | None = None

    def __post_init__(self) -> None:
        clock_of(self.meta)  # raises if it is not valid
        clocks = sorted({clock_of(lane.run.meta) for lane in self.lanes})
        if len(clocks) > 1:
            raise BadTrace(
                f"the lanes have the clocks {', '.join(map(shown, clocks))}; all lanes of a race "
                "must have the same clock"
            )

    def in_order(self) -> Iterator[tuple[int, int]]:
        """All steps as (lane, step), in the order of the race. The lane with the least decode time
        so far makes the next step; in a tie, the first such lane. Lanes without steps left are
        passed over."""
        seconds = [0.0] * len(self.lanes)
        made = [0] * len(self.lanes)
        while running := [
            lane for lane, log in enumerate(self.lanes) if made[lane] < len(log.run.steps)
        ]:
            lane = min(running, key=lambda lane: seconds[lane])
            yield lane, made[lane]
            seconds[lane] += self.lanes[lane].run.steps[made[lane]].total_seconds
            made[lane] += 1

    def to_json(self) -> str:
        """The text of a file that the app can open. Raises BadTrace if it would be too large."""
        lanes = [{**lane.fields_of_a_file, "run": lane.run.to_dict()} for lane in self.lanes]
        content = {"meta": dict(self.meta), "lanes": lanes, "results": self.results}
        content |= {"pool": self.pool.to_dict()} if self.pool else {}
        if self.expected:
            content["expected"] = [one and expected_to_dict(one) for one in self.expected]
        return write_file(as_file(content, "race"), "race", MAX_JSON_BYTES, BadTrace)

    @classmethod
    def from_dict(cls, data: Any) -> RaceLog:
        """The race in `data`, the JSON values of a race file. Raises BadTrace, and nothing else,
        if they are not complete and valid."""
        return read_dict(data, "race", BadTrace, _race)

    @classmethod
    def from_json(cls, text: str) -> RaceLog:
        """The race in `text`, the content of a race file. Raises BadTrace, and nothing else, if it
        is not complete and valid."""
        return read_file(text, "race", MAX_JSON_BYTES, BadTrace, _race)


# -- reading: every field is checked ---------------------------------------------------------------


def _race(data: Mapping[str, Any]) -> RaceLog:
    lanes = tuple(
        _lane(lane, f"lane {i + 1}")
        for i, lane in enumerate(list_of(data["lanes"], "lanes", MOST_LANES))
    )
    if not lanes:
        raise BadTrace(f"the race has 0 lanes; expected 1 to {MOST_LANES}")
    meta = checked_meta(data["meta"])
    return RaceLog(
        meta,
        lanes,
        _optional(data.get("results"), _results, len(lanes)),
        _optional(data.get("pool"), Pool.from_dict, len(lanes)),
        _optional(data.get("expected"), _all_expected, len(lanes)),
    )


def _all_expected(values: Any, lanes: int) -> tuple[ExpectedSteps | None, ...]:
    if len(list_of(values, "expected steps", MOST_LANES)) != lanes:
        raise BadTrace(f"{len(values)} entries of expected steps for {lanes} lanes")
    return tuple(_optional(one, expected_of, f"lane {i}") for i, one in enumerate(values, 1))


def _results(values: Any, lanes: int) -> tuple[Result | None, ...]:
    if len(list_of(values, "results", MOST_LANES)) != lanes:
        raise BadTrace(f"{len(values)} results for {lanes} lanes")
    return tuple(_optional(result, checked) for result in values)


def _lane(data: Mapping[str, Any], what: str) -> LaneLog:
    name, verifier = (
        text_of(data[key], f"{what}: {key}", MAX_NAME) for key in ("name", "verifier")
    )
    how = text_of(data["how"], f"{what}: how", MAX_HOW)
    plain, changes = (truth(data[key], f"{what}: {key}", BadTrace) for key in ("plain", "changes"))
    most = whole(data["most"], f"{what}: most", 1, MAX_NODES, BadTrace)
    run = Run.from_dict(data["run"])
    widest = max((len(step.tree) for step in run.steps), default=1)
    if widest > (1 if plain else most):
        raise BadTrace(
            f"{what}: a tree has {widest} nodes; the limit of this lane is {1 if plain else most}"
        )
    on = text_of(data.get("on", ""), f"{what}: on", MAX_NAME)
    return LaneLog(name, how, verifier, plain, most, changes, run, on)


def checked(result: Any) -> dict[str, Any]:
    """A lane's result with every known field checked and all other fields dropped. Raises
    BadTrace or BadTree for a wrong value, KeyError for a missing field, and TypeError for a value
    that should be an object but is not.

    {waterfall: {bars: [{name, value, loss, words}]} or null (see `Bar` in where_time_went.py),
    doctor: {speedup, loss: name of the largest loss or null, words, remedies: [{words, predicted:
    the remedy's speed-up, predicted or not, label: one of LABELS, parents: those of the suggested
    tree or null}]} or null,
    lossless: {kind: one of KINDS, words, at: index of the first token that differs or null, p:
    p-value or null, count: as `counted` returns it, null or missing, label: one of CHECK_LABELS}
    or null}
    """
    parts = {"waterfall": _time_breakdown, "doctor": _what_to_try, "lossless": _lossless}
    return {name: _optional(result[name], read) for name, read in parts.items()}


def _time_breakdown(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "bars": [
            {
                "name": text_of(bar["name"], "bar", MAX_NAME),
                "value": _figure(bar["value"], "value of a bar"),
                "loss": _figure(bar["loss"], "loss of a bar"),
                "words": text_of(bar["words"], "bar", MAX_WORDS),
            }
            for bar in list_of(data["bars"], "bars", MAX_BARS)
        ]
    }


def _what_to_try(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "speedup": _figure(data["speedup"], "speed-up"),
        "loss": _optional(data["loss"], text_of, "loss", MAX_NAME),
        "words": text_of(data["words"], "doctor", MAX_WORDS),
        "remedies": [_remedy(one) for one in list_of(data["remedies"], "remedies", MAX_REMEDIES)],
    }


def _remedy(data: Mapping[str, Any]) -> dict[str, Any]:
    tree = _optional(data["parents"], Tree.from_parents)
    return {
        "words": text_of(data["words"], "remedy", MAX_WORDS),
        "predicted": _figure(data["predicted"], "predicted speed-up"),
        "label": one_of(data["label"], "label of a remedy", LABELS, BadTrace),
        "parents": list(tree.parents) if tree else None,
    }


def _lossless(data: Mapping[str, Any]) -> dict[str, Any]:
    what = "first token that differs"
    return {
        "kind": one_of(data["kind"], "lossless", KINDS, BadTrace),
        "words": text_of(data["words"], "lossless", MAX_WORDS),
        "at": _optional(data["at"], whole, what, 0, MAX_STEPS, BadTrace),
        "p": _optional(data["p"], number, "p-value", 0, 1, BadTrace),
        "count": _optional(data.get("count"), counted),
        "label": one_of(data["label"], "label of a check", CHECK_LABELS, BadTrace),
    }


def counted(data: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of sampled tokens at one position, with every field checked.

    draws: number drawn so far. wanted: number to draw in total. going: whether more are being
    drawn. lane: index of the lane whose text has the position. at: number of that lane's tokens
    before the position. bits: entropy of the target's distribution at the position. rule: why this
    position was chosen. context: the end of the text before it. statistic: chi-square or null.
    freedom: its degrees of freedom. sight: roughly how far the probability of the most probable
    token must be off to be detected, or null. cells: [{text, more, share, seen}].

    A cell counts one token. The last cell may instead count all rare tokens, with or without a
    common one. text: the token's text, null for the rare tokens alone. more: true for a token with
    the rare ones. share: expected probability of the cell. seen: number drawn.
    """

    def count(name: str, most: int = MAX_DRAWS) -> int:
        return whole(data[name], name, 0, most, BadTrace)

    return {
        "draws": count("draws"),
        "wanted": count("wanted"),
        "going": truth(data["going"], "going", BadTrace),
        "at": count("at", MAX_STEPS),
        "lane": count("lane", MOST_LANES - 1),
        "bits": number(data["bits"], "bits", 0, 64, BadTrace),
        "rule": text_of(data["rule"], "rule", MAX_WORDS),
        "context": text_of(data["context"], "context", MAX_CONTEXT),
        "statistic": _optional(data["statistic"], _figure, "statistic"),
        "freedom": count("freedom"),
        "sight": _optional(data["sight"], number, "sight", 0, 1, BadTrace),
        "cells": [_cell(cell) for cell in list_of(data["cells"], "cells", MAX_CELLS)],
    }


def _cell(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "text": _optional(data["text"], text_of, "token", MAX_NAME),
        "more": truth(data["more"], "cell", BadTrace),
        "share": number(data["share"], "share", 0, 1, BadTrace),
        "seen": whole(data["seen"], "seen", 0, MAX_DRAWS, BadTrace),
    }


def _optional(value: Any, read: Callable[..., T], *rest: Any) -> T | None:
    """`read(value, *rest)`, but None if `value` is None."""
    return None if value is None else read(value, *rest)


def _figure(value: Any, what: str) -> float:
    return number(value, what, -_LARGEST, _LARGEST, BadTrace)
