"""The words of the experiment `specinfer`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sequoia.experiments.result import At, ExperimentResult, Ratio
from sequoia.experiments.specinfer import OURS, THEIRS
from sequoia.planning.paper_results import paper_tables
from ui.experiments.words.view import (
    Axis,
    Column,
    Series,
    Words,
    case_words,
    changes,
    clearly,
    grouped,
    point,
)


def _columns(label: str) -> Iterator[Column]:
    yield Column("case", "texts")
    yield Column("width", "sequences")
    yield Column("depth", "tokens per sequence")
    yield Column("nodes", "nodes")
    yield Column(THEIRS, "SpecInfer", label)
    yield Column("planned", "Sequoia's tree of the same size", label)
    yield Column("ratio", "Sequoia's tree over SpecInfer", label)
    yield Column("paper", "SpecInfer in the paper", "paper")
    yield Column("paper_planned", "Sequoia in the paper, 128 nodes", "paper")


def in_paper() -> dict[tuple[int, int], tuple[float, float]]:
    """Tokens per step of SpecInfer and of Sequoia in Table 1 of arXiv 2402.12374 (Llama2-7B with
    JF68M on C4 at temperature 0.6), by SpecInfer's number and length of sequences."""
    (table,) = (table for table in paper_tables() if table.key == "a100-7b")
    (row,) = (row for row in table.rows if (row.texts, row.temperature) == ("C4", 0.6))
    tokens = {one.method: one.tokens for one in row.results}
    assert table.sequences
    return {table.sequences: (tokens[THEIRS], tokens[OURS])}


def _sequences(at: At) -> str:
    return f"{at['width']} sequence{'s' * (int(at['width']) > 1)}"


def _series(result: ExperimentResult) -> Iterator[Series]:
    theirs = [row for row in result.rows if row.lane == THEIRS]
    lines = grouped(theirs, lambda row: (case_words(row.at), _sequences(row.at)))
    for (panel, name), rows in lines.items():
        points = tuple(point(row.at["depth"], row.figures["tokens"]) for row in rows)
        yield Series(name, THEIRS, panel, points)


def _rows(result: ExperimentResult) -> Iterator[dict[str, Any]]:
    ratios = {(*one.at.items(),): one.ratio.mean for one in result.ratios}
    paper = in_paper()
    for key, rows in grouped(result.rows, lambda row: (*row.at.items(),)).items():
        at = rows[0].at
        width, depth = int(at["width"]), int(at["depth"])
        tokens = {row.lane: row.figures["tokens"].mean for row in rows}
        theirs, ours = paper.get((width, depth), (None, None))
        yield {
            "case": case_words(at),
            "width": width,
            "depth": depth,
            "nodes": 1 + width * depth,
            THEIRS: tokens[THEIRS],
            "planned": tokens[OURS],
            "ratio": ratios[key],
            "paper": theirs,
            "paper_planned": ours,
        }


def _compared(one: Ratio) -> str:
    sequences = f"{_sequences(one.at)} of {one.at['depth']} tokens"
    return f"{case_words(one.at)}: Sequoia's tree over {sequences}"


def _finding(result: ExperimentResult) -> Iterator[str]:
    higher, lower = clearly(result.ratios)
    yield (
        f"In {higher} of {len(result.ratios)} comparisons, Sequoia's tree emits clearly more "
        "tokens per step than SpecInfer's sequences with the same number of nodes. It emits "
        f"clearly fewer in {lower}."
    )
    found = changes(one.ratio.mean for one in result.ratios)
    yield f"Sequoia's tree compared with the sequences: {found} tokens per step."
    yield from _best(result)


def _best(result: ExperimentResult) -> Iterator[str]:
    """For each of SpecInfer's trees that emits the most tokens per step in some case, a sentence
    with these cases."""
    theirs = [row for row in result.rows if row.lane == THEIRS]
    winners = dict[tuple[str, int], list[str]]()
    for case, rows in grouped(theirs, lambda row: case_words(row.at)).items():
        best = max(rows, key=lambda row: row.figures["tokens"].mean).at
        winners.setdefault((_sequences(best), int(best["depth"])), []).append(case)
    for (sequences, depth), some in winners.items():
        where = f" ({'; '.join(some)})" if len(winners) > 1 else " in every case"
        verb = "yields" if sequences == "1 sequence" else "yield"
        yield (
            f"Of SpecInfer's settings, {sequences} of {depth} tokens {verb} the most tokens per "
            f"step{where}."
        )


SPECINFER = Words(
    title="SpecInfer: number and length of sequences",
    x=Axis("depth", "tokens per sequence"),
    y=Axis("tokens per step", "tokens per step"),
    columns=_columns,
    series=_series,
    rows=_rows,
    compared=_compared,
    finding=_finding,
    note=(
        "The plots show SpecInfer’s verifier on independent sequences. The table compares it with "
        "Sequoia’s tree and verifier, and with the paper’s Table 1 (Llama2-7B with JF68M on C4, "
        "T = 0.6); a dash means that the paper has no such setting."
    ),
    table="Tokens per step",
)
