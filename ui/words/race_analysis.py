"""The words of the analysis after a race, made when its results are sent to the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from sequoia.saved_files.race_results import Diagnosis, Result, TimeBreakdown
from ui.words.losslessness import lossless_words, rule_words
from ui.words.where_time_went import bar_words, diagnosis_words, remedy_label, remedy_words


class BarShown(TypedDict):
    """A bar (see `Bar`) with a sentence about it."""

    name: str
    value: float
    loss: float
    words: str


class RemedyShown(TypedDict):
    """words: the remedy. label: where `predicted` comes from, see `remedy_label`. parents: of its
    tree; None without a tree, or if this server does not decode with trees of this size."""

    words: str
    predicted: float
    label: str
    parents: list[int] | None


class AdviceShown(TypedDict):
    """speedup: of the lane."""

    speedup: float
    words: str
    remedies: list[RemedyShown]


class AnalysisShown(TypedDict):
    """The words about the result of a lane. rule: why its tokens were sampled at this position.
    Each is empty or None if that part of the result is missing."""

    bars: list[BarShown]
    advice: AdviceShown | None
    lossless: str
    rule: str


def analysis_shown(
    results: Sequence[Result | None], meta: Mapping[str, Any], most: int
) -> list[AnalysisShown]:
    """The words about each lane. meta: of the race. most: the largest tree that a visitor may
    use."""
    return [_shown(result or Result(), meta, most) for result in results]


def _shown(result: Result, meta: Mapping[str, Any], most: int) -> AnalysisShown:
    found, advice, lossless = result.time_breakdown, result.what_to_try, result.lossless
    return {
        "bars": _bars(found) if found else [],
        "advice": _advice(advice, most, bool(meta.get("hypothetical"))) if advice else None,
        "lossless": lossless_words(lossless, meta) if lossless else "",
        "rule": rule_words(lossless.count) if lossless and lossless.count else "",
    }


def _bars(found: TimeBreakdown) -> list[BarShown]:
    words = bar_words(found)
    return [
        {"name": bar.name, "value": bar.value, "loss": bar.loss, "words": words[bar.name]}
        for bar in found.bars
    ]


def _advice(found: Diagnosis, most: int, hypothetical: bool) -> AdviceShown:
    return {
        "speedup": found.speedup,
        "words": diagnosis_words(found, hypothetical),
        "remedies": [
            {
                "words": remedy_words(one),
                "predicted": one.predicted,
                "label": remedy_label(one, hypothetical),
                "parents": [*one.tree.parents] if one.tree and len(one.tree) <= most else None,
            }
            for one in found.remedies
        ],
    }
