"""The content of the Engines view, as HTML."""

from __future__ import annotations

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
from sequoia.planning.plan_for_machine import predict
from ui.shared import report
from ui.shared.markup import Markup, element
from ui.shared.saved_profiles import Entry
from ui.words.engines import (
    FORCED,
    acceptance_words,
    break_even_words,
    passes_words,
    rank_words,
)
from ui.words.figures import size_words

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
        report.scrolled("Plans", table, "en-scroll sq-more-right"),
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
