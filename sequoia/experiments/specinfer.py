"""SpecInfer's trees with different numbers and lengths of sequences, each compared with Sequoia's
tree of as many nodes.

In Tables 1 to 4 of the paper, SpecInfer has 5 sequences of 8 tokens ("5 x 8") or 16 sequences of 48
tokens. Tables 5 and 6 give its speed-ups for several numbers and lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.experiments.experiment import Done, Experiment, Unit
from sequoia.experiments.finding_words import count_or_none, lines, signed_percent
from sequoia.experiments.intervals import comparison, point, score
from sequoia.experiments.planned import planning_vector
from sequoia.experiments.result import (
    Axis,
    Column,
    Comparison,
    ExperimentResult,
    Series,
    Settings,
)
from sequoia.experiments.text_units import (
    Case,
    Found,
    case_of,
    found_by_case,
    params_of,
    text_units,
    tokens_per_step_along,
    values,
)
from sequoia.models.pair import Pair

# arXiv 2402.12374, Table 1, Llama2-7B with JF68M on C4 at temperature 0.6:
# (width, depth) -> tokens per step of SpecInfer, and of Sequoia's tree of 128 nodes
PAPER = {(5, 8): (2.97, 3.92)}


def run_unit(pair: Pair, unit: Unit) -> Mapping[str, Any]:
    """The expected tokens per step along one text, by lane. The lane "5 x 8" is SpecInfer with 5
    sequences of 8 tokens. The lane "planned 41" is Sequoia's tree with 41 nodes."""
    acceptance = planning_vector(pair, case_of(unit).kind, params_of(unit))
    lanes = dict[str, tuple[Tree, str]]()
    for width, depth in _grid(unit.work):
        tree = Tree.sequences(width, depth)
        lanes[f"{width} x {depth}"] = (tree, SPECINFER.key)
        lanes[f"planned {len(tree)}"] = (best_tree(acceptance, len(tree)), SEQUOIA.key)
    return tokens_per_step_along(pair, unit, lanes)


def _grid(settings: Settings) -> Iterator[tuple[int, int]]:
    return ((width, depth) for width in settings["widths"] for depth in settings["depths"])


def summary(settings: Settings, done: Done) -> ExperimentResult:
    series = list[Series]()
    rows = list[Mapping[str, Any]]()
    comparisons = list[Comparison]()
    for case, found in found_by_case(settings, done).items():
        series += _series(case, settings, found)
        mine = {cell: _comparison(case, cell, found) for cell in _grid(settings)}
        rows += [_row(case, cell, found, mine[cell]) for cell in mine]
        comparisons += mine.values()
    return ExperimentResult(
        finding=_finding(comparisons, rows),
        x=Axis("depth", "tokens per sequence"),
        y=Axis("tokens per step", "tokens per step"),
        series=tuple(series),
        columns=(
            Column("case", "texts"),
            Column("width", "sequences"),
            Column("depth", "tokens per sequence"),
            Column("nodes", "nodes"),
            Column(SPECINFER.key, "SpecInfer", "measured"),
            Column("planned", "Sequoia's tree of the same size", "measured"),
            Column("ratio", "Sequoia's tree over SpecInfer", "measured"),
            Column("paper", "SpecInfer in the paper", "paper"),
            Column("paper_planned", "Sequoia in the paper, 128 nodes", "paper"),
        ),
        rows=tuple(rows),
        comparisons=tuple(comparisons),
    )


def _sequences(width: int) -> str:
    return f"{width} sequence{'s' * (width > 1)}"


def _nodes(cell: tuple[int, int]) -> int:
    return 1 + cell[0] * cell[1]


def _series(case: Case, settings: Settings, found: Found) -> list[Series]:
    return [
        Series(
            _sequences(width),
            SPECINFER.key,
            case.words,
            tuple(point(d, values(found, f"{width} x {d}")) for d in settings["depths"]),
        )
        for width in settings["widths"]
    ]


def _comparison(case: Case, cell: tuple[int, int], found: Found) -> Comparison:
    width, depth = cell
    planned = values(found, f"planned {_nodes(cell)}")
    words = f"{case.words}: Sequoia's tree over {_sequences(width)} of {depth} tokens"
    return comparison(words, planned, values(found, f"{width} x {depth}"))


def _row(
    case: Case,
    cell: tuple[int, int],
    found: Found,
    compared: Comparison,
) -> Mapping[str, Any]:
    theirs, ours = PAPER.get(cell, (None, None))
    return {
        "case": case.words,
        "width": cell[0],
        "depth": cell[1],
        "nodes": _nodes(cell),
        SPECINFER.key: point(0, values(found, f"{cell[0]} x {cell[1]}")).mean,
        "planned": point(0, values(found, f"planned {_nodes(cell)}")).mean,
        "ratio": compared.ratio,
        "paper": theirs,
        "paper_planned": ours,
    }


def _finding(comparisons: Sequence[Comparison], rows: Sequence[Mapping[str, Any]]) -> str:
    if not comparisons:
        return ""
    counts = score(comparisons)
    low, high = (signed_percent(pick(one.ratio for one in comparisons) - 1) for pick in (min, max))
    return lines(
        f"In {count_or_none(counts.higher)} of {counts.total} comparisons, Sequoia's tree emits "
        "clearly more tokens per step than SpecInfer's sequences with the same number of nodes. "
        f"It emits clearly fewer in {count_or_none(counts.lower)}.",
        f"Sequoia's tree compared with the sequences: {low} to {high} tokens per step.",
        *_best(rows),
    )


def _best(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """For each of SpecInfer's trees that emits the most tokens per step in some case, a sentence
    with these cases."""
    winners = dict[tuple[int, int], list[str]]()
    for case in dict.fromkeys(row["case"] for row in rows):
        best = max((row for row in rows if row["case"] == case), key=lambda row: row[SPECINFER.key])
        winners.setdefault((int(best["width"]), int(best["depth"])), []).append(case)
    for (width, depth), some in winners.items():
        where = f" ({'; '.join(some)})" if len(winners) > 1 else " in every case"
        verb = "yields" if width == 1 else "yield"
        yield (
            f"Of SpecInfer's settings, {_sequences(width)} of {depth} tokens {verb} the most "
            f"tokens per step{where}."
        )


SPECINFER_GRID = Experiment(
    name=SPECINFER.key,
    title="SpecInfer: number and length of sequences",
    question=(
        "How many sequences work best, how long should they be, and is Sequoia's tree of the same "
        "size better?"
    ),
    sizes={
        "small": {
            "kinds": ["code"],
            "temperatures": [0.6],
            "prompts": 6,
            "tokens": 64,
            "widths": [1, 5, 16],
            "depths": [2, 4, 8],
        },
        "full": {
            "kinds": ["code", "prose"],
            "temperatures": [0.6],
            "prompts": 12,
            "tokens": 128,
            "widths": [1, 2, 5, 16],
            "depths": [2, 4, 8, 16, 48],
        },
    },
    units=text_units,
    run_unit=run_unit,
    summary=summary,
    note=(
        "The plots show SpecInfer’s verifier on independent sequences. The table compares it with "
        "Sequoia’s tree and verifier, and with the paper’s Table 1 (Llama2-7B with JF68M on C4, "
        "T = 0.6); a dash means that the paper has no such setting."
    ),
    table="Tokens per step",
)
