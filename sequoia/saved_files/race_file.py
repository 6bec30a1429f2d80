"""A whole race as one JSON file: every lane's run, step by step, and what was found out after
it. Knows no models.

A file: {format: "sequoia-race", version: 1, meta, lanes: [{name, how, verifier, plain, most,
changes, run}], results}; `run` is a run file (see run_file.py), `results` null or one result a lane
(see `checked`), each may be null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.errors import BadTrace
from sequoia.saved_files.run_file import MAX_CHARS, MAX_STEPS, Run, checked_meta
from sequoia.validate_input import as_file, number, read_file, shown, whole, write_file

MOST_LANES = 4
# what a result says of lossless decoding
KINDS = ("exact", "tie", "bug", "undecided", "law", "poor", "blind", "none")
# where the speed-up of a remedy comes from
LABELS = ("predicted", "predicted, what if", "measured", "recorded")
MAX_WORDS = 2000
MAX_NAME = 200
MAX_BARS = 8
MAX_REMEDIES = 32
MAX_CELLS = 24
MAX_CONTEXT = 120
MAX_DRAWS = 1_000_000
_GREAT = 1e12
Result = Mapping[str, Any]


@dataclass(frozen=True)
class LaneLog:
    """One lane. how: the tree in words. plain: one node at every step. most: nodes a tree may have.
    changes: whether trees differ from step to step."""

    name: str
    how: str
    verifier: str
    plain: bool
    most: int
    changes: bool
    run: Run

    @property
    def without_run(self) -> dict[str, Any]:
        """All of it but the run."""
        return {
            "name": self.name,
            "how": self.how,
            "verifier": self.verifier,
            "plain": self.plain,
            "most": self.most,
            "changes": self.changes,
        }


@dataclass(frozen=True)
class RaceLog:
    """A race that was run. meta: what all lanes share. results: what was found out after it, one a
    lane where anything was."""

    meta: Mapping[str, Any]
    lanes: tuple[LaneLog, ...]
    results: tuple[Result | None, ...] | None = None

    def moves(self) -> Iterator[tuple[int, int]]:
        """(lane, step) in the order in which they were made: the lane furthest behind on its clock
        first, of equals the first."""
        clocks = [0.0] * len(self.lanes)
        made = [0] * len(self.lanes)
        while left := [
            lane for lane, log in enumerate(self.lanes) if made[lane] < len(log.run.steps)
        ]:
            lane = min(left, key=lambda lane: clocks[lane])
            yield lane, made[lane]
            clocks[lane] += self.lanes[lane].run.steps[made[lane]].total_seconds
            made[lane] += 1

    def to_json(self) -> str:
        """One file that the app opens again. Raises BadTrace where it would be too large."""
        lanes = [{**lane.without_run, "run": lane.run.to_dict()} for lane in self.lanes]
        content = {"meta": dict(self.meta), "lanes": lanes, "results": self.results}
        return write_file(as_file(content, "race"), "race", MAX_CHARS, BadTrace)

    @classmethod
    def from_json(cls, text: str) -> RaceLog:
        """The race in `text`. Raises BadTrace, and nothing else, for whatever is not a whole
        and sane race file."""
        return read_file(text, "race", MAX_CHARS, BadTrace, _race)


# -- reading, where nothing is believed ------------------------------------------------------------


def _race(data: Mapping[str, Any]) -> RaceLog:
    lanes = tuple(
        _lane(lane, f"lane {i + 1}")
        for i, lane in enumerate(_list(data["lanes"], "lanes", MOST_LANES))
    )
    if not lanes:
        raise BadTrace(f"a race of no lanes; allowed are 1 to {MOST_LANES}")
    meta = checked_meta(data["meta"])
    results = data.get("results")
    if results is not None and len(_list(results, "results", MOST_LANES)) != len(lanes):
        raise BadTrace(f"{len(results)} results for {len(lanes)} lanes")
    return RaceLog(
        meta,
        lanes,
        None
        if results is None
        else tuple(None if one is None else checked(one) for one in results),
    )


def _lane(data: Mapping[str, Any], what: str) -> LaneLog:
    name, how, verifier = (
        _text(data[key], f"{what}: {key}", MAX_NAME) for key in ("name", "how", "verifier")
    )
    plain, changes = (_truth(data[key], f"{what}: {key}") for key in ("plain", "changes"))
    most = whole(data["most"], f"{what}: most", 1, MAX_NODES, BadTrace)
    run = Run.from_dict(data["run"])
    widest = max((len(step.tree) for step in run.steps), default=1)
    if widest > (1 if plain else most):
        raise BadTrace(
            f"{what}: a tree of {widest} nodes in a lane of at most {1 if plain else most}"
        )
    return LaneLog(name, how, verifier, plain, most, changes, run)


def checked(result: Any) -> dict[str, Any]:
    """A lane's result with every field looked at and no other kept. Raises BadTrace, or what a
    missing field raises.

    {waterfall: {bars: [{name, value, loss, words}]} or null, doctor: {speedup, loss, words,
    remedies: [{words, predicted, label of LABELS, parents: [...] or null}]} or null,
    lossless: {kind of KINDS, words, at: token index or null, p: 0 to 1 or null, count: see
    `counted`, or null} or null}
    """
    parts = {"waterfall": _time_breakdown, "doctor": _what_to_try, "lossless": _lossless}
    return {
        name: None if result[name] is None else read(result[name]) for name, read in parts.items()
    }


def _time_breakdown(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "bars": [
            {
                "name": _text(bar["name"], "bar", MAX_NAME),
                "value": _figure(bar["value"], "value of a bar"),
                "loss": _figure(bar["loss"], "loss of a bar"),
                "words": _text(bar["words"], "bar", MAX_WORDS),
            }
            for bar in _list(data["bars"], "bars", MAX_BARS)
        ]
    }


def _what_to_try(data: Mapping[str, Any]) -> dict[str, Any]:
    loss = data["loss"]
    remedies = [
        {
            "words": _text(one["words"], "remedy", MAX_WORDS),
            "predicted": _figure(one["predicted"], "predicted speed-up"),
            "label": _known(one["label"], "label of a remedy", LABELS),
            "parents": None
            if one["parents"] is None
            else list(Tree.from_parents(one["parents"]).parents),
        }
        for one in _list(data["remedies"], "remedies", MAX_REMEDIES)
    ]
    return {
        "speedup": _figure(data["speedup"], "speed-up"),
        "loss": None if loss is None else _text(loss, "loss", MAX_NAME),
        "words": _text(data["words"], "doctor", MAX_WORDS),
        "remedies": remedies,
    }


def _lossless(data: Mapping[str, Any]) -> dict[str, Any]:
    at = data["at"]
    p = data["p"]
    count = data.get("count")
    return {
        "kind": _known(data["kind"], "lossless", KINDS),
        "words": _text(data["words"], "lossless", MAX_WORDS),
        "at": None if at is None else whole(at, "first token that differs", 0, MAX_STEPS, BadTrace),
        "p": _chance(p, "p-value"),
        "count": None if count is None else counted(count),
    }


def counted(data: Mapping[str, Any]) -> dict[str, Any]:
    """Counts of first tokens with every field looked at.

    {draws, wanted, going: whether more are being drawn, at: tokens of lane `lane` before the place,
    bits: entropy there, rule: why there, context: the text before it, statistic: chi-square or
    null, freedom, sight: a shift of share that would be noticed, or null, cells: [{text of a token,
    null for all rarer ones; more: rarer ones are in it; share, seen}]}
    """

    def count(name: str, most: int = MAX_DRAWS) -> int:
        return whole(data[name], name, 0, most, BadTrace)

    square = data["statistic"]
    return {
        "draws": count("draws"),
        "wanted": count("wanted"),
        "going": _truth(data["going"], "going"),
        "at": count("at", MAX_STEPS),
        "lane": count("lane", MOST_LANES - 1),
        "bits": number(data["bits"], "bits", 0, 64, BadTrace),
        "rule": _text(data["rule"], "rule", MAX_WORDS),
        "context": _text(data["context"], "context", MAX_CONTEXT),
        "statistic": None if square is None else _figure(square, "statistic"),
        "freedom": count("freedom"),
        "sight": _chance(data["sight"], "sight"),
        "cells": [_cell(cell) for cell in _list(data["cells"], "cells", MAX_CELLS)],
    }


def _cell(data: Mapping[str, Any]) -> dict[str, Any]:
    text = data["text"]
    return {
        "text": None if text is None else _text(text, "token", MAX_NAME),
        "more": _truth(data["more"], "cell"),
        "share": number(data["share"], "share", 0, 1, BadTrace),
        "seen": whole(data["seen"], "seen", 0, MAX_DRAWS, BadTrace),
    }


def _chance(value: Any, what: str) -> float | None:
    return None if value is None else number(value, what, 0, 1, BadTrace)


def _figure(value: Any, what: str) -> float:
    return number(value, what, -_GREAT, _GREAT, BadTrace)


def _known(value: Any, what: str, among: Sequence[str]) -> str:
    if value not in among:
        raise BadTrace(f"{what}: {shown(value)} is none of {', '.join(among)}")
    return value


def _truth(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise BadTrace(f"{what}: {shown(value)} is neither true nor false")
    return value


def _list(values: Any, what: str, most: int) -> Sequence[Any]:
    if not isinstance(values, list) or len(values) > most:
        raise BadTrace(f"{what}: {shown(values)}; wanted is a list of at most {most}")
    return values


def _text(value: Any, what: str, most: int) -> str:
    if (
        not isinstance(value, str)
        or len(value) > most
        or any("\ud800" <= character <= "\udfff" for character in value)
    ):
        raise BadTrace(f"{what}: {shown(value)} is not a text of at most {most} characters")
    return value
