"""The content of the Engines view, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sequoia import HardwareProfile, Plan
from sequoia.engines.read_log import EngineLog
from sequoia.engines.shapes import (
    EXPONENTS,
    Planned,
    as_logged,
    break_even,
    planned,
    vector,
)
from sequoia.measuring.counted_acceptance import wilson
from sequoia.planning.plan_for_machine import predict
from ui.shared import report
from ui.shared.markup import Markup, element
from ui.shared.saved_profiles import Entry
from ui.words.figures import size_words, time_words

HEADS = (
    "",
    "shape (root included)",
    "tokens per step",
    "speed-up",
    "of the best tree",
    "ask for it with",
)


def page(*parts: Markup | str) -> Markup:
    """The view with `parts` below each other."""
    return element("div", *parts, class_="sq-stage en-stage sq-frame")


def intro() -> Markup:
    """What is shown before a log is read."""
    return page(
        report.panel(
            "intro",
            "The tree for your engine",
            [],
            element(
                "p",
                "Engines print how many of their draft tokens are accepted. Paste such a log into "
                "the form: this view tells what the draft is worth, the best chain and the nearest "
                "tree that the engine can run, what they lose against the best tree, and the "
                "settings.",
            ),
            element("ul", *(element("li", line) for line in _SOURCES)),
        )
    )


_SOURCES = (
    "vLLM: the log line “SpecDecoding metrics”, or a response with metrics.speculative_decoding",
    "SGLang: a response whose meta_info has spec_verify_ct",
    "llama.cpp: the lines “draft acceptance rate” and “statistics”, or llama-bench -o json with "
    "-p 1,2,4,8,16",
    "AIPerf: its records with spec_decode_acceptance",
)


def read(log: EngineLog, entry: Entry) -> Markup:
    """What `log` says, and what it means on the machine of `entry`."""
    return page(_said(log), *([_plans(log, entry)] if log.tried else []))


def refused(problem: object) -> Markup:
    """Why a log was not read."""
    return page(element("p", f"Not read: {problem}.", class_="sq-problem", role="alert"), intro())


def _said(log: EngineLog) -> Markup:
    lines = (acceptance_words(log), passes_words(log.passes))
    paragraphs = (element("p", line) for line in lines)
    return report.panel("said", f"What the log of {log.engine} says", [], *paragraphs)


def _plans(log: EngineLog, entry: Entry) -> Markup:
    profile = entry.profile
    found = planned(vector(log.rate), profile)
    best = found.best.predicted_speedup
    rows = [_row("best tree", found.best, best, _range(found.best, log, profile))]
    rows.append(_row("best chain", found.chain, best))
    if log.positions:
        rows.append(_row("as in the log", as_logged(log.positions, profile), best))
    for one in found.shapes:
        name = f"{one.engine} {one.version}"
        rows.append(_row(name, one.plan, best, _range(one.plan, log, profile), one.settings))
    table = report.table(HEADS, rows)
    return report.panel(
        "plans",
        f"With the step times of {entry.name}",
        [element("span", f"step times: {profile.source}"), report.badge("predicted")],
        report.scrolled("Plans", table, "sq-wide sq-more-right"),
        element("p", rank_words(log.positions)),
        element("p", break_even_words(break_even(profile))),
        _checks(found),
    )


def _range(plan: Plan, log: EngineLog, profile: HardwareProfile) -> str:
    """The speed-ups of plausible rates of later children, if the tree has any."""
    found = [
        predict(plan.tree, vector(log.rate, exponent), profile).predicted_speedup
        for exponent in EXPONENTS
    ]
    has_later = max(plan.tree.ranks) > 0
    return f" ({min(found):.2f} to {max(found):.2f})" if has_later else ""


def _checks(found: Planned) -> Markup:
    lines = (
        element("li", f"{one.engine}: ", element("code", one.forced))
        for one in found.shapes
        if one.forced
    )
    return element("div", element("p", FORCED), element("ul", *lines))


def _row(name: str, plan: Plan, best: float, plausible: str = "", ask: str = "") -> Markup:
    return report.row(
        name,
        size_words(plan.tree),
        f"{plan.expected_tokens:.2f}",
        f"{plan.predicted_speedup:.2f}×{plausible}",
        f"{plan.predicted_speedup / best:.0%}",
        element("code", ask) if ask else "",
    )


# -- what a log says, in sentences -----------------------------------------------------------------


# A pass over several tokens that takes at most this many times as long as one over a single token
# is still bound by reading the weights.
_FLAT = 1.3
FORCED = (
    "To check a predicted speed, let the engine accept as often as predicted, whatever it drafts "
    "(its text is then wrong):"
)


def acceptance_words(log: EngineLog) -> str:
    """How often draft tokens were accepted."""
    if not log.tried:
        return "The log has no acceptance, so rates must come from elsewhere."
    if log.is_least:
        return (
            f"{log.accepted:,} of {log.tried:,.0f} draft tokens were accepted, {log.rate:.1%}. The "
            "log also counts tokens that were not tried, after a rejected one. So a token that is "
            "tried is accepted more often than that; the plans below are cautious."
        )
    low, high = wilson(log.accepted, round(log.tried))
    return (
        f"Of {log.tried:,.0f} draft tokens that were tried (all before them in their chain were "
        f"accepted), {log.accepted:,} were accepted: {log.rate:.1%} (95% CI {low:.1%} to "
        f"{high:.1%}, as if they were independent). The others were drafted in vain."
    )


def rank_words(positions: Sequence[float]) -> str:
    """What predictions assume, and what a chain's log does not say. positions: see EngineLog."""
    given = [one / before for before, one in pairwise((1.0, *positions)) if before]
    places = (
        f" In the log it is {', '.join(f'{one:.0%}' for one in given)}, place by place."
        if len(given) > 1
        else ""
    )
    return (
        f"Predictions use one rate for all places of a chain.{places} A chain drafts first "
        "children only. How often a second or third child would be accepted is fitted to vectors "
        "recorded with other models; the range beside a speed-up is that of plausible fits."
    )


def passes_words(passes: Sequence[tuple[int, float]]) -> str:
    """Whether a pass is bound by memory or by arithmetic."""
    if len(passes) < 2:
        return "The log does not tell whether a pass is bound by memory or by arithmetic."
    (first, one), *_ = passes
    flat = [size for size, seconds in passes if seconds <= _FLAT * one]
    most, longest = passes[-1]
    words = (
        f"A pass over {most} tokens takes {longest / one:.1f} times as long as one over {first} "
        f"({time_words(one)}). "
    )
    if flat[-1] == most:
        return words + "Up to there it is bound by reading the weights: more tokens cost little."
    return (
        f"{words}It is bound by reading the weights up to {flat[-1]} tokens, and by arithmetic "
        "beyond: more tokens cost time there."
    )


def break_even_words(rate: float | None) -> str:
    """From which first rate on a draft pays."""
    if rate is None:
        return "With these step times no draft pays, however good it is."
    return (
        f"On this machine a draft pays if its first child is accepted more often than {rate:.0%}."
    )
