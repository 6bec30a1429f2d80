"""Tokens per step as a function of the number of nodes, for trees of several shapes (paper: Figure
4, left)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.experiments.experiment import Done, Experiment, Unit
from sequoia.experiments.finding_words import count_or_none, lines
from sequoia.experiments.intervals import comparison, point, score
from sequoia.experiments.result import (
    Axis,
    Column,
    Comparison,
    ExperimentResult,
    Series,
    Settings,
)
from sequoia.experiments.shapes import ARITIES, LABELS, OURS, SHAPES, WIDTHS, planned_shapes
from sequoia.experiments.text_units import (
    REPEAT,
    Found,
    Text,
    case_of,
    found_by_case,
    new_tokens,
    params_of,
    step_starts_along,
    text_of_unit,
    text_units,
    tokens_per_step,
    values,
)
from sequoia.models.pair import Pair

_NEW = "before the text repeats itself"
_OVER_CHAIN = f"over {LABELS['chain']}"


def run_unit(pair: Pair, unit: Unit) -> Mapping[str, Any]:
    """The entry "all": the expected tokens per step of each shape at each budget (max nodes), along
    one text. At temperature 0 there are two more entries. "new": the same for the part before the
    text begins to repeat itself. "share": that part's fraction of the text's tokens."""
    planning = replace(params_of(unit), seed=0)
    trees = planned_shapes(pair, case_of(unit).kind, planning, unit.work["budgets"])
    lanes = {name: (tree, DEFAULT_VERIFIER) for name, tree in trees.items()}
    text = text_of_unit(pair, unit)
    starts = step_starts_along(pair, text, lanes)
    found = {"all": {name: tokens_per_step(one, text.params) for name, one in starts.items()}}
    return {**found, **_new(text, starts)} if text.params.temperature == 0 else found


def _new(text: Text, starts: Mapping[str, Sequence[float]]) -> Mapping[str, Any]:
    """The entries "new" and "share" of `run_unit`."""
    new = new_tokens(text)
    return {
        "new": {name: round(new / sum(one[:new]), 5) for name, one in starts.items()},
        "share": round(new / len(text.tokens), 4),
    }


def summary(settings: Settings, done: Done) -> ExperimentResult:
    series = list[Series]()
    rows = list[Mapping[str, Any]]()
    comparisons = list[Comparison]()
    for panel in _panels(settings, done):
        series += _series(panel, settings)
        rows += _rows(panel, settings)
        comparisons += _comparisons(panel, settings)
    return ExperimentResult(
        finding=_finding(comparisons),
        x=Axis("nodes", "nodes of the tree", "log"),
        y=Axis("tokens per step", "tokens per step"),
        series=tuple(series),
        columns=(
            Column("case", "texts"),
            Column("length", "mean length of the part", "measured"),
            Column("nodes", "nodes"),
            *(Column(shape, LABELS[shape], "measured") for shape in SHAPES),
        ),
        rows=tuple(rows),
        comparisons=tuple(comparisons),
    )


@dataclass(frozen=True)
class _Panel:
    """Texts of one kind at one temperature. found: for each prompt, the tokens per step of each
    shape and size. share: the mean fraction of a text that the panel covers, None for whole
    texts."""

    words: str
    found: Found
    share: float | None = None


def _panels(settings: Settings, done: Done) -> Iterator[_Panel]:
    """A panel for each case. At temperature 0 the texts of small models soon repeat themselves, and
    repeated text is easy to draft. So cases at temperature 0 get a second panel, which covers each
    text only up to where it begins to repeat itself."""
    for case, found in found_by_case(settings, done).items():
        yield _Panel(case.words, [one["all"] for one in found])
        if case.temperature == 0:
            share = statistics.fmean(values(found, "share"))
            yield _Panel(f"{case.words}, {_NEW}", [one["new"] for one in found], share)


def _series(panel: _Panel, settings: Settings) -> list[Series]:
    return [
        Series(
            LABELS[shape],
            method,
            panel.words,
            tuple(point(n, values(panel.found, f"{shape} {n}")) for n in settings["budgets"]),
        )
        for shape, method in SHAPES.items()
    ]


def _rows(panel: _Panel, settings: Settings) -> list[Mapping[str, Any]]:
    return [
        {
            "case": panel.words,
            "length": None if panel.share is None else f"{panel.share:.1%} of the text",
            "nodes": nodes,
            **{
                shape: point(nodes, values(panel.found, f"{shape} {nodes}")).mean
                for shape in SHAPES
            },
        }
        for nodes in settings["budgets"]
    ]


def _comparisons(panel: _Panel, settings: Settings) -> list[Comparison]:
    return [
        comparison(
            f"{panel.words}, {nodes} nodes: {LABELS[OURS]} over {LABELS[shape]}",
            values(panel.found, f"{OURS} {nodes}"),
            values(panel.found, f"{shape} {nodes}"),
        )
        for nodes in settings["budgets"]
        for shape in SHAPES
        if shape != OURS
    ]


def _finding(comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return ""
    found = score(comparisons)
    lost = [one for one in comparisons if one.high is not None and one.high < 1]
    most = max(comparisons, key=lambda one: one.ratio)
    case, compared = most.text.split(": ")
    return lines(
        f"In {count_or_none(found.higher)} of {found.total} comparisons, {LABELS[OURS]} emits "
        "clearly more tokens per step than another tree of at most the same size. It emits "
        f"clearly fewer in {count_or_none(found.lower)}.",
        _where(lost),
        f"{found.unclear} comparisons show no clear difference." if found.unclear else "",
        f"The largest gain is {most.ratio - 1:.0%}: {compared} ({case}).",
    )


def _where(lost: list[Comparison]) -> str:
    """A sentence about the comparisons that Sequoia's tree lost, if all of them are with the chain,
    on whole texts at temperature 0. Otherwise, and if it lost none, ""."""
    looped = [
        one
        for one in lost
        if "temperature 0," in one.text and _NEW not in one.text and one.text.endswith(_OVER_CHAIN)
    ]
    if not lost or len(looped) < len(lost):
        return ""
    return (
        "It emits fewer only against the chain, at temperature 0 on whole texts. Such texts "
        "usually repeat themselves; there the draft is right for many tokens in a row, and a long "
        "chain does well."
    )


def _or(numbers: Sequence[int]) -> str:
    """`numbers` as a list in a sentence, such as "2, 3 or 4"."""
    return f"{', '.join(map(str, numbers[:-1]))} or {numbers[-1]}"


BUDGET = Experiment(
    name="budget",
    title="Tokens per step by size of the tree",
    question=(
        "Does Sequoia's tree emit more tokens per step than other trees of at most the same size?"
    ),
    sizes={
        "small": {
            "kinds": ["code"],
            "temperatures": [0.6],
            "prompts": 6,
            "tokens": 64,
            "budgets": [16, 64, 256],
        },
        "full": {
            "kinds": ["code", "prose"],
            "temperatures": [0.0, 0.6],
            "prompts": 12,
            "tokens": 128,
            "budgets": [16, 32, 64, 128, 256, 512],
        },
    },
    units=text_units,
    run_unit=run_unit,
    summary=summary,
    note=(
        f"For independent sequences, k is {_or(WIDTHS)} (if that many fit). For the k-ary tree, k "
        f"is {_or(ARITIES)}. For each size, k is the one that does best on other texts. "
        f"{LABELS['SpecInfer']} has SpecInfer's shape <1, 1, 3, 1, 1, 1, 1, 1> (children per node, "
        "level by level) with more than 3 chains if they fit: a chain of two tokens is followed by "
        "as many chains of six as fit. (The paper gives SpecInfer independent sequences instead.) "
        "Making a long chain longer gains nothing: the draft errs, or the text ends, before the "
        "end of the chain. A text counts as repeating itself from the first "
        f"{REPEAT} tokens in a row that already occurred in it or its prompt. All trees are "
        "verified with Sequoia's verifier."
    ),
    table="Tokens per step",
    version=2,
)
