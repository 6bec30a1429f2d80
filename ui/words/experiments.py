"""The words of all experiments: titles, notes, labels, and what a result says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

from sequoia.algorithm.verifiers import verifier_named
from sequoia.experiments import budget, ranks, specinfer, verifiers
from sequoia.experiments.result import At, Estimate, ExperimentResult, Ratio, Row
from sequoia.experiments.texts import REPEAT
from sequoia.planning.named_profiles import machine_name
from sequoia.planning.paper_results import METHODS, paper_tables
from ui.words.experiment_result import (
    MEASURED,
    TOKENS,
    Axis,
    Column,
    Line,
    Place,
    Words,
    answer,
    by_other,
    case,
    case_words,
    drawn_rows,
    places,
)
from ui.words.machine_experiments import CHAIN, HARDWARE

# -- budget ----------------------------------------------------------------------------------------


_SHAPES = {
    budget.OURS: "Sequoia's tree",
    "chain": "chain",
    "sequences": "k independent sequences",
    "kary": "k-ary tree",
    "specinfer": "SpecInfer's tree",
}


def _length(place: Place) -> str | None:
    share = place.rows[0].figures.get("share")
    return f"{share.mean:.1%} of the text" if share else None


def _of_shapes(result: ExperimentResult) -> Iterator[str]:
    others = "another tree of its size"
    yield answer(result.ratios, _SHAPES[budget.OURS], others, TOKENS)


BUDGET = Words(
    title="Size of the tree",
    x=Axis("nodes", "nodes of the tree", "log"),
    y=Axis("tokens per step", "tokens per step"),
    drawn=drawn_rows(
        lambda row: Line(case_words(row.at), _SHAPES[row.lane], row.lane, row.at["nodes"])
    ),
    columns=(
        Column("texts", case),
        Column("mean length of the part", _length, MEASURED),
        Column("nodes", lambda place: place.at["nodes"]),
        *(Column(name, partial(Place.mean, lane=one), MEASURED) for one, name in _SHAPES.items()),
    ),
    compared=lambda one: (
        f"{case_words(one.at)}, {one.at['nodes']} nodes: {_SHAPES[one.one]} over "
        f"{_SHAPES[one.other]}"
    ),
    finding=_of_shapes,
    note=(
        f"For independent sequences, k is one of {budget.WIDTHS} (if that many fit). For the k-ary "
        f"tree, k is one of {budget.ARITIES}. For each size, k is the one that does best on other "
        "texts. SpecInfer's tree has SpecInfer's shape <1, 1, 3, 1, 1, 1, 1, 1> (children per "
        "node, level by level) with more than 3 chains if they fit: a chain of two tokens is "
        "followed by as many chains of six as fit. (The paper gives SpecInfer independent "
        "sequences instead.) Making a long chain longer gains nothing: the small model errs, or "
        "the text ends, before the end of the chain. At temperature 0 texts usually repeat "
        "themselves; there the small model is right for many tokens in a row, and a long chain "
        f"does well. A text counts as repeating itself from the first {REPEAT} tokens in a row "
        "that already occurred in it or its prompt. All trees are verified with Sequoia's verifier."
    ),
    table="Tokens per step",
)


# -- temperature, top-p ----------------------------------------------------------------------------


_TREES = {
    name: verifier_named(name).label
    for name in verifiers.LANES
    if name not in (verifiers.CHAIN, verifiers.BLOCK)
}
_VERIFIERS = {
    **_TREES,
    verifiers.CHAIN: "chain, token verification",
    verifiers.BLOCK: "chain, block verification",
}
_SIZES = verifiers.TEMPERATURE.sizes["full"]


def _of_verifiers(result: ExperimentResult, where: str = "") -> Iterator[str]:
    """Sequoia over each of the other tree verifiers. where: which cases are compared."""
    ours = _TREES[verifiers.OURS]
    compared = by_other(result.ratios, verifiers.OURS)
    yield " ".join(
        answer(found, ours, _TREES[other], TOKENS, where) for other, found in compared.items()
    )


def _verifiers(one: Ratio) -> str:
    where = f"all {one.at['cases']} cases" if "cases" in one.at else case_words(one.at)
    return f"{where}: {_VERIFIERS[one.one]} over {_VERIFIERS[one.other]}"


def _lane(place: Place) -> str:
    """Of a line of the table with a single row."""
    return place.rows[0].lane


def _of(place: Place, figure: str) -> float:
    return place.rows[0].figures[figure].mean


def _drawn_by(axis: str) -> Callable[[ExperimentResult], Iterator[tuple[Line, Estimate]]]:
    return drawn_rows(
        lambda row: Line(str(row.at["kind"]), _VERIFIERS[row.lane], row.lane, row.at[axis])
    )


TEMPERATURE = Words(
    title="Temperature",
    x=Axis("temperature", "temperature"),
    y=Axis("tokens per step", "tokens per step"),
    drawn=_drawn_by("temperature"),
    columns=(
        Column("texts", case),
        Column("verifier", lambda place: _VERIFIERS[_lane(place)]),
        Column("tokens per step", partial(_of, figure="tokens"), MEASURED),
        Column(
            f"speed-up on {machine_name(_SIZES['profile'])}",
            partial(_of, figure="speed"),
            "predicted",
        ),
    ),
    together=lambda row: (*row.at.items(), row.lane),
    compared=_verifiers,
    finding=partial(_of_verifiers, where=" above temperature 0"),
    note=(
        "A case is a kind of text with one setting of temperature and top-p. At temperature 0 all "
        "verifiers of a tree accept the same tokens, so those cases are not compared. Each tree "
        f"verifier has its own tree of {_SIZES['nodes']} nodes, planned with its own acceptance "
        "rates; but Traversal uses Sequoia's. A tree with more levels takes longer to draft, so "
        "equal tokens per step can give different speed-ups. The speed-up is predicted with the "
        "paper's times on an A100 (Llama2-7B with JF68M). It assumes that a pass of the large "
        "model takes equally long for any number of nodes."
    ),
)


@cache
def paper_tokens() -> dict[tuple[str, float], float]:
    """Tokens per step in Table 8 of arXiv 2402.12374, by verifier and top-p."""
    (table,) = (table for table in paper_tables() if table.key == "top-p")
    lanes = dict(zip(METHODS, verifiers.WALKS, strict=True))
    return {
        (lanes[one.method], float(row.texts.removeprefix("top-p "))): one.tokens
        for row in table.rows
        for one in row.results
    }


TOP_P = replace(
    TEMPERATURE,
    title="Top-p",
    x=Axis("top-p", "top-p"),
    drawn=_drawn_by("top_p"),
    columns=(
        *TEMPERATURE.columns,
        Column(
            "tokens per step in Table 8",
            lambda place: paper_tokens().get((_lane(place), float(place.at["top_p"]))),
            "paper",
        ),
    ),
    finding=_of_verifiers,
)


# -- ranks -----------------------------------------------------------------------------------------


_RULES = {name: verifier_named(name).label for name in ranks.RULES}


def _rates(place: Place) -> list[float]:
    """How often all children are rejected, by their number."""
    return [row.figures["rejected"].mean for row in place.rows]


def _law(place: Place) -> tuple[float, float]:
    """b and R² of the power law."""
    exponent, fit = ranks.power_law(
        [float(row.at["children"]) for row in place.rows], _rates(place)
    )
    return round(exponent, 3), round(fit, 4)


def _of_ranks(result: ExperimentResult) -> Iterator[str]:
    children = result.ratios[0].at["children"]
    rejects = f"rejects all {children} children {{}} than"
    words = (rejects, "clearly more often", "clearly less often")
    others = "the other verifiers"
    yield (
        "The probability that all of k children are rejected falls roughly as a power of k (how "
        "closely, the table says). " + answer(result.ratios, _RULES[ranks.OURS], others, words)
    )


RANKS = Words(
    title="Rejection rate",
    x=Axis("children", "children of a node", "log"),
    y=Axis("rejected", "probability that all are rejected", "log"),
    drawn=drawn_rows(
        lambda row: Line(case_words(row.at), _RULES[row.lane], row.lane, row.at["children"]),
        "rejected",
    ),
    together=lambda row: (case_words(row.at), row.lane),
    columns=(
        Column("texts", case),
        Column("verifier", lambda place: _RULES[_lane(place)]),
        Column("first child rejected", lambda place: _rates(place)[0], MEASURED),
        Column("all children rejected", lambda place: _rates(place)[-1], MEASURED),
        Column("b of the power law k^−b", lambda place: _law(place)[0], MEASURED),
        Column("R² of the power law", lambda place: _law(place)[1], MEASURED),
    ),
    compared=lambda one: (
        f"{case_words(one.at)}, how often all {one.at['children']} children are rejected: "
        f"{_RULES[one.one]} over {_RULES[one.other]}"
    ),
    finding=_of_ranks,
)


# -- specinfer -------------------------------------------------------------------------------------


@cache
def in_paper() -> dict[tuple[int, int], dict[str, float]]:
    """Tokens per step in Table 1 of arXiv 2402.12374 (Llama2-7B with JF68M on C4 at temperature
    0.6), by SpecInfer's number and length of sequences, then by method."""
    (table,) = (table for table in paper_tables() if table.key == "a100-7b")
    (row,) = (row for row in table.rows if (row.texts, row.temperature) == ("C4", 0.6))
    assert table.sequences
    return {table.sequences: {one.method: one.tokens for one in row.results}}


def _published(place: Place, method: str) -> float | None:
    setting = (int(place.at["width"]), int(place.at["depth"]))
    return in_paper().get(setting, {}).get(method)


def _sequences(at: At) -> str:
    return f"{at['width']} sequence{'s' * (int(at['width']) > 1)}"


def _setting(at: At) -> str:
    return f"{_sequences(at)} of {at['depth']} tokens"


def _length_line(row: Row) -> Line | None:
    if row.lane != specinfer.THEIRS:
        return None
    return Line(case_words(row.at), _sequences(row.at), row.lane, row.at["depth"])


def _of_sequences(result: ExperimentResult) -> Iterator[str]:
    yield answer(
        result.ratios, "Sequoia's tree", "SpecInfer's sequences with as many nodes", TOKENS
    )
    theirs = [row for row in result.rows if row.lane == specinfer.THEIRS]
    for one in places(theirs, lambda row: case_words(row.at)):
        best = max(one.rows, key=lambda row: row.figures["tokens"].mean)
        yield f"SpecInfer's best setting on {case(one)}: {_setting(best.at)}."


SPECINFER = Words(
    title="SpecInfer’s sequences",
    x=Axis("depth", "tokens per sequence"),
    y=Axis("tokens per step", "tokens per step"),
    drawn=drawn_rows(_length_line),
    columns=(
        Column("texts", case),
        Column("sequences", lambda place: place.at["width"]),
        Column("tokens per sequence", lambda place: place.at["depth"]),
        Column("nodes", lambda place: 1 + int(place.at["width"]) * int(place.at["depth"])),
        Column("SpecInfer", partial(Place.mean, lane=specinfer.THEIRS), MEASURED),
        Column(
            "Sequoia's tree of the same size", partial(Place.mean, lane=specinfer.OURS), MEASURED
        ),
        Column("SpecInfer in the paper", partial(_published, method=specinfer.THEIRS), "paper"),
        Column(
            "Sequoia in the paper, 128 nodes", partial(_published, method=specinfer.OURS), "paper"
        ),
    ),
    compared=lambda one: f"{case_words(one.at)}: Sequoia's tree over {_setting(one.at)}",
    finding=_of_sequences,
    note=(
        "The plots show SpecInfer’s verifier on independent sequences. The table compares it with "
        "Sequoia’s tree and verifier, and with the paper’s Table 1 (Llama2-7B with JF68M on C4, "
        "T = 0.6); a dash means that the paper has no such setting."
    ),
    table="Tokens per step",
)


WORDS: dict[str, Words] = {
    "budget": BUDGET,
    "temperature": TEMPERATURE,
    "top-p": TOP_P,
    "ranks": RANKS,
    "specinfer": SPECINFER,
    "hardware": HARDWARE,
    "chain": CHAIN,
}
