"""The words of the experiment `budget`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sequoia.experiments.budget import ARITIES, NEW, OURS, WIDTHS
from sequoia.experiments.estimates import score
from sequoia.experiments.result import ExperimentResult, Ratio
from sequoia.experiments.texts import REPEAT
from ui.experiments.words.view import (
    MEASURED,
    Axis,
    Column,
    Line,
    Place,
    Words,
    case_words,
    clearly,
    drawn_rows,
)

LABELS = {
    OURS: "Sequoia's tree",
    "chain": "chain",
    "sequences": "k independent sequences",
    "kary": "k-ary tree",
    "specinfer": "SpecInfer's tree",
}


def _length(place: Place) -> str | None:
    share = place.rows[0].figures.get("share")
    return f"{share.mean:.1%} of the text" if share else None


def _where(one: Ratio) -> str:
    return f"{case_words(one.at)}, {one.at['nodes']} nodes"


def _compared(one: Ratio) -> str:
    return f"{_where(one)}: {LABELS[one.one]} over {LABELS[one.other]}"


def _finding(result: ExperimentResult) -> Iterator[str]:
    counts = score(result.ratios)
    higher, lower = clearly(result.ratios)
    most = max(result.ratios, key=lambda one: one.ratio.mean)
    yield (
        f"In {higher} of {counts.total} comparisons, {LABELS[OURS]} emits clearly more tokens per "
        "step than another tree of at most the same size. It emits clearly fewer in "
        f"{lower}."
    )
    if _only_on_loops(result):
        yield (
            "It emits fewer only against the chain, at temperature 0 on whole texts. Such texts "
            "usually repeat themselves; there the draft is right for many tokens in a row, and a "
            "long chain does well."
        )
    if counts.unclear:
        yield f"{counts.unclear} comparisons show no clear difference."
    yield (
        f"The largest gain is {most.ratio.mean - 1:.0%}: {LABELS[OURS]} over "
        f"{LABELS[most.other]} ({_where(most)})."
    )


def _only_on_loops(result: ExperimentResult) -> bool:
    """Whether Sequoia's tree lost any comparison, and each was with the chain, on whole texts at
    temperature 0."""
    lost = [one for one in result.ratios if one.ratio.high is not None and one.ratio.high < 1]
    return bool(lost) and all(
        one.at["temperature"] == 0 and one.at.get("part") != NEW and one.other == "chain"
        for one in lost
    )


def _or(numbers: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, numbers[:-1]))} or {numbers[-1]}"


BUDGET = Words(
    title="Tokens per step by size of the tree",
    x=Axis("nodes", "nodes of the tree", "log"),
    y=Axis("tokens per step", "tokens per step"),
    drawn=drawn_rows(
        lambda row: Line(case_words(row.at), LABELS[row.lane], row.lane, row.at["nodes"])
    ),
    columns=(
        Column("texts", lambda place: case_words(place.at)),
        Column("mean length of the part", _length, MEASURED),
        Column("nodes", lambda place: place.at["nodes"]),
        *(Column(LABELS[one], partial(Place.mean, lane=one), MEASURED) for one in LABELS),
    ),
    compared=_compared,
    finding=_finding,
    note=(
        f"For independent sequences, k is {_or(WIDTHS)} (if that many fit). For the k-ary tree, k "
        f"is {_or(ARITIES)}. For each size, k is the one that does best on other texts. "
        f"{LABELS['specinfer']} has SpecInfer's shape <1, 1, 3, 1, 1, 1, 1, 1> (children per node, "
        "level by level) with more than 3 chains if they fit: a chain of two tokens is followed by "
        "as many chains of six as fit. (The paper gives SpecInfer independent sequences instead.) "
        "Making a long chain longer gains nothing: the draft errs, or the text ends, before the "
        "end of the chain. A text counts as repeating itself from the first "
        f"{REPEAT} tokens in a row that already occurred in it or its prompt. All trees are "
        "verified with Sequoia's verifier."
    ),
    table="Tokens per step",
)
