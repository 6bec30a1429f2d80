"""The words of the experiment `specinfer`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from sequoia.experiments.result import At, ExperimentResult, Ratio, Row
from sequoia.experiments.specinfer import OURS, THEIRS
from sequoia.planning.paper_results import paper_tables
from ui.experiments.words.view import (
    MEASURED,
    Axis,
    Column,
    Line,
    Place,
    Words,
    case_words,
    changes,
    clearly,
    drawn_rows,
    places,
)


@cache
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


def _published(place: Place, which: int) -> float | None:
    """The paper's figure: 0 of SpecInfer, 1 of Sequoia."""
    found = in_paper().get((int(place.at["width"]), int(place.at["depth"])))
    return found[which] if found else None


def _line(row: Row) -> Line | None:
    if row.lane != THEIRS:
        return None
    return Line(case_words(row.at), _sequences(row.at), THEIRS, row.at["depth"])


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
    for place in places(theirs, lambda row: case_words(row.at)):
        best = max(place.rows, key=lambda row: row.figures["tokens"].mean).at
        winners.setdefault((_sequences(best), int(best["depth"])), []).append(case_words(best))
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
    drawn=drawn_rows(_line),
    columns=(
        Column("texts", lambda place: case_words(place.at)),
        Column("sequences", lambda place: place.at["width"]),
        Column("tokens per sequence", lambda place: place.at["depth"]),
        Column("nodes", lambda place: 1 + int(place.at["width"]) * int(place.at["depth"])),
        Column("SpecInfer", lambda place: place.mean(THEIRS), MEASURED),
        Column("Sequoia's tree of the same size", lambda place: place.mean(OURS), MEASURED),
        Column(
            "Sequoia's tree over SpecInfer",
            lambda place: place.mean(OURS) / place.mean(THEIRS),
            MEASURED,
        ),
        Column("SpecInfer in the paper", lambda place: _published(place, 0), "paper"),
        Column("Sequoia in the paper, 128 nodes", lambda place: _published(place, 1), "paper"),
    ),
    compared=_compared,
    finding=_finding,
    note=(
        "The plots show SpecInfer’s verifier on independent sequences. The table compares it with "
        "Sequoia’s tree and verifier, and with the paper’s Table 1 (Llama2-7B with JF68M on C4, "
        "T = 0.6); a dash means that the paper has no such setting."
    ),
    table="Tokens per step",
)
