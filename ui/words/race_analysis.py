"""The words of the analysis after a run, made when its results are sent to the page: where the
time went, what to try, and whether the text is lossless."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from sequoia.algorithm.tree import Tree
from sequoia.saved_files.race_results import Change, Diagnosis, Remedy, Result, TimeBreakdown
from ui.words.figures import size_words, speedup_words, time_words
from ui.words.losslessness import lossless_words, rule_words


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
    """The words about each lane. meta: of the run. most: the largest tree that a visitor may
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


# -- where the time went ---------------------------------------------------------------------------


_CHANGES: dict[Change, str] = {
    "plain": "Plain decoding",
    "fastest_tree": "The fastest tree at this run's acceptance",
    "smaller_draft": "The small model in half the time, with the same acceptance",
    "larger_target": "The large model in twice the time, with the same acceptance",
}


def bar_words(found: TimeBreakdown) -> dict[str, str]:
    """A sentence for each bar of `found`."""
    return {
        "tokens": (
            f"{found.step.tokens:.2f} tokens per step would be the speed-up if a step took only as "
            "long as one token of plain decoding."
        ),
        "verify": _verify_words(found),
        "draft": (
            f"Drafting takes {time_words(found.step.draft)} per step, "
            f"{found.step.draft / found.step.seconds:.0%} of the step's time."
        ),
        "overhead": _overhead_words(found),
    }


def _verify_words(found: TimeBreakdown) -> str:
    step, token = found.step.verify, found.token.verify
    return (
        f"The large model's pass takes {time_words(step)} for all nodes of a step and "
        f"{time_words(token)} for one token: {step / token:.2f} times as long."
    )


def _overhead_words(found: TimeBreakdown) -> str:
    return (
        f"Everything else takes {time_words(found.step.overhead)} per step "
        f"({time_words(found.rest)} per token in plain decoding)."
    )


# -- what to try -----------------------------------------------------------------------------------


def diagnosis_words(found: Diagnosis, hypothetical: bool = False) -> str:
    """The largest loss, worded as a possible gain. If no remedy changes the tree, the words say
    why. hypothetical: as in `remedy_label`."""
    if not any(remedy.tree for remedy in found.remedies):
        return _no_tree_words(found, hypothetical)
    return f"The most could be gained by {_loss_words(found)}" if found.losses else ""


def remedy_words(remedy: Remedy) -> str:
    """A remedy, with the size of its tree."""
    words = _CHANGES[remedy.change]
    return words if remedy.tree in (None, Tree.chain(1)) else f"{words}, {size_words(remedy.tree)}"


def remedy_label(remedy: Remedy, hypothetical: bool = False) -> str:
    """Where the speed-up of a remedy comes from: "predicted", "predicted, what if" if it assumes
    other models, or "run" for plain decoding, which the run was compared with. hypothetical:
    whether the run's step times and acceptance are of different models; then so are predictions."""
    if remedy.change == "plain":
        return "run"
    label = "hypothetical" if hypothetical else "predicted"
    return label if remedy.tree else f"{label}, what if"


def _speedup_words(remedy: Remedy, hypothetical: bool) -> str:
    label = remedy_label(remedy, hypothetical)
    return f"{speedup_words(remedy.predicted)}{'' if label == 'run' else f' ({label})'}"


def _loss_words(found: Diagnosis) -> str:
    step = found.costs.step
    if found.largest_loss == "acceptance":
        return (
            "higher acceptance: with a well-matched pair, a step would give "
            f"{found.good_tokens:.1f} tokens."
        )
    if found.largest_loss == "draft":
        return f"faster drafting: it takes {step.draft / step.seconds:.0%} of a step."
    if found.largest_loss == "overhead":
        return f"less overhead: it takes {time_words(step.overhead)} per step."
    times = step.verify / found.costs.token.verify
    return f"faster verification: it takes {times:.1f} times as long as a plain token's pass."


def _no_tree_words(found: Diagnosis, hypothetical: bool) -> str:
    """Says that no other tree is recommended, and why."""
    best = next((remedy for remedy in found.unclear if remedy.tree), None)
    if best is None:
        return "No other tree is predicted to be faster."
    speedup = _speedup_words(best, hypothetical)
    return f"No other tree is clearly faster: the best one reaches {speedup}."
