"""The words of the experiments `temperature` and `top-p`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from sequoia.algorithm.verifiers import verifier_named
from sequoia.experiments.estimates import Score, score
from sequoia.experiments.result import Estimate, ExperimentResult, Ratio
from sequoia.experiments.verifiers import BLOCK, CHAIN, LANES, OURS, TEMPERATURE, WALKS
from sequoia.planning.named_profiles import machine_name
from sequoia.planning.paper_results import METHODS, paper_tables
from sequoia.validate_input import and_list
from ui.experiments.words.view import (
    MEASURED,
    Axis,
    Column,
    Line,
    Place,
    Words,
    case_words,
    changes,
    count_or_none,
    drawn_rows,
    signed_percent,
)

NAMES = {name: verifier_named(name).label for name in LANES if name not in (CHAIN, BLOCK)}
_LABELS = {**NAMES, CHAIN: "chain, token verification", BLOCK: "chain, block verification"}
_IN_SENTENCES = {
    **NAMES,
    CHAIN: "token verification on the same chain",
    BLOCK: "block verification on a chain",
}
_SIZES = TEMPERATURE.sizes["full"]


def _where(one: Ratio, hot: str = "") -> str:
    return f"all {one.at['cases']} cases{hot}" if "cases" in one.at else case_words(one.at)


def _finding(result: ExperimentResult) -> Iterator[str]:
    """Sequoia against each of the other tree verifiers, and the gain of each verifier that tests
    whole paths."""
    hot = " above temperature 0" if min(result.settings["temperatures"]) == 0 else ""
    mine = [one for one in result.ratios if one.one == OURS]
    by_name = {name: [one for one in mine if one.other == name] for name in NAMES if name != OURS}
    compared = {name: found for name, found in by_name.items() if found}
    if compared:
        yield _answer({name: score(found) for name, found in compared.items()}, hot)
        yield from (_range(name, found, hot) for name, found in compared.items())
    yield from (_gain(one, hot) for one in result.ratios if "cases" in one.at)


def _answer(scores: Mapping[str, Score], hot: str) -> str:
    """A sentence on each verifier that clearly beats Sequoia more often than Sequoia clearly beats
    it, and one sentence on the others. The first verifier is said to emit the most tokens per step
    only if no two verifiers beat Sequoia, and each of these results is clear in most cases. hot:
    words after the number of cases."""
    above = [name for name, one in scores.items() if one.higher < one.lower]
    below = [name for name in scores if name not in above]
    facts = [
        (NAMES[name], f"than {NAMES[OURS]} in {_count(scores[name].lower, scores[name].total)}")
        for name in above
    ]
    if below:
        facts.append((NAMES[OURS], _than(below, scores)))
    is_ranked = len(above) <= 1 and all(
        2 * max(one.higher, one.lower) > one.total for one in scores.values()
    )
    more = "the most tokens per step: clearly more" if is_ranked else "clearly more tokens per step"
    (first, than), *others = facts
    sentences = (f"{name} emits clearly more {than}." for name, than in others)
    return " ".join((f"{first} emits {more} {than} cases{hot}.", *sentences))


def _than(names: Sequence[str], scores: Mapping[str, Score]) -> str:
    """For example "than A and B in all 8 and than C in 6 of 8"."""
    by_count = dict[str, list[str]]()
    for name in names:
        one = scores[name]
        by_count.setdefault(_count(one.higher, one.total), []).append(NAMES[name])
    return " and ".join(f"than {and_list(some)} in {count}" for count, some in by_count.items())


def _count(number: int, total: int) -> str:
    return f"all {total}" if number == total > 1 else f"{count_or_none(number)} of {total}"


def _range(name: str, found: Sequence[Ratio], hot: str) -> str:
    """A sentence on the range of the differences between Sequoia and `name`. The one that is more
    often clearly ahead comes first. hot: words that say which cases are compared."""
    counts = score(found)
    ratios = [one.ratio.mean for one in found]
    first, second, fewer = NAMES[OURS], NAMES[name], counts.lower
    if counts.lower > counts.higher:
        first, second, fewer = second, first, counts.higher
        ratios = [1 / ratio for ratio in ratios]
    but = f", and clearly fewer in {fewer} of {counts.total} cases" if fewer else ""
    return f"{first} compared with {second}{hot}: {changes(ratios)} tokens per step{but}."


def _gain(found: Ratio, hot: str) -> str:
    """A sentence on a comparison over all cases: how many more tokens per step one verifier emits
    than the other."""
    mean, low, high, _ = found.ratio
    interval = ""
    if low is not None and high is not None:
        ends = f"{signed_percent(low - 1, 1)} to {signed_percent(high - 1, 1)}"
        interval = f" (95% interval: {ends})"
    return (
        f"Over {_where(found, hot)}, {_IN_SENTENCES[found.one]} emits {abs(mean - 1):.1%} "
        f"{'more' if mean >= 1 else 'fewer'} tokens per step than "
        f"{_IN_SENTENCES[found.other]}{interval}."
    )


def _compared(hot: str) -> Callable[[Ratio], str]:
    return lambda one: (
        f"{_where(one, hot)}: {_IN_SENTENCES[one.one]} over {_IN_SENTENCES[one.other]}"
    )


def _of(place: Place, figure: str) -> float:
    """A line of the table has the row of one lane."""
    (row,) = place.rows
    return row.figures[figure].mean


def _drawn_by(axis: str) -> Callable[[ExperimentResult], Iterator[tuple[Line, Estimate]]]:
    return drawn_rows(
        lambda row: Line(str(row.at["kind"]), _LABELS[row.lane], row.lane, row.at[axis])
    )


TEMPERATURE_WORDS = Words(
    title="Verifiers at several temperatures",
    x=Axis("temperature", "temperature"),
    y=Axis("tokens per step", "tokens per step"),
    drawn=_drawn_by("temperature"),
    columns=(
        Column("texts", lambda place: case_words(place.at)),
        Column("verifier", lambda place: _LABELS[place.rows[0].lane]),
        Column("tokens per step", partial(_of, figure="tokens"), MEASURED),
        Column(
            f"speed-up on {machine_name(_SIZES['profile'])}",
            partial(_of, figure="speed"),
            "predicted",
        ),
    ),
    together=lambda row: (*row.at.items(), row.lane),
    compared=_compared(" above temperature 0"),
    finding=_finding,
    note=(
        "A case is a kind of text with one setting of temperature and top-p. Each tree verifier "
        f"has its own tree of {_SIZES['nodes']} nodes, planned with its own acceptance rates; but "
        "Traversal uses Sequoia's. A tree with more levels takes longer to draft, so equal tokens "
        "per step can give different speed-ups. The speed-up is predicted with the paper's times "
        "on an A100 (Llama2-7B with JF68M). It assumes that a target pass takes equally long for "
        "any number of nodes."
    ),
)


@cache
def paper_tokens() -> dict[tuple[str, float], float]:
    """Tokens per step in Table 8 of arXiv 2402.12374, by verifier and top-p."""
    (table,) = (table for table in paper_tables() if table.key == "top-p")
    lanes = dict(zip(METHODS, WALKS, strict=True))
    return {
        (lanes[one.method], float(row.texts.removeprefix("top-p "))): one.tokens
        for row in table.rows
        for one in row.results
    }


def _in_paper(place: Place) -> float | None:
    return paper_tokens().get((place.rows[0].lane, float(place.at["top_p"])))


TOP_P_WORDS = replace(
    TEMPERATURE_WORDS,
    title="Verifiers with top-p",
    x=Axis("top-p", "top-p"),
    drawn=_drawn_by("top_p"),
    columns=(
        *TEMPERATURE_WORDS.columns,
        Column("tokens per step in Table 8", _in_paper, "paper"),
    ),
    compared=_compared(""),
)
