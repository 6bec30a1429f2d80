"""Tables of the Lossless tab as markup: the recorded tests that it shows at first, the outcomes of
a test, and the bugs that the test would find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from sequoia.assets_folder import ASSETS
from sequoia.text_files import load_json
from ui.shared import report
from ui.shared.markup import Markup, csv_link, element
from ui.words.losslessness import (
    OF_RECORDED,
    RECORDED_WORDS,
    SCOPE,
    far_words,
    found_words,
)

Fields = Mapping[str, Any]  # of a test: `test_fields` in messages.py; or one of its rows
FILE = ASSETS / "losslessness.json"
MOST = 24  # outcomes shown
FAR = 3  # standard deviations; a larger difference is marked
REST = {
    "": "",
    "other": "then any other",
    "rare": "all rarer ones together",
    "more": "and rarer ones",
    "other more": "then any other, and rarer ones",
    "impossible": "never emitted by the target",
}
SPACES = str.maketrans({"\n": "⏎", "\t": "⇥", "\r": "␍"})


def name_of(row: Fields) -> tuple[list[str], str]:
    """The texts of a row's tokens, with visible spaces; and words for what else it counts."""
    words = REST[row["rest"]]
    return [_visible(token) for token in row["tokens"]], (
        words if row["tokens"] else words.removeprefix("then ")
    )


def _visible(token: str) -> str:
    start = len(token) - len(token.lstrip(" "))
    end = len(token.rstrip(" "))
    inner = token[start:end] if start < end else ""
    return ("·" * start + inner + "·" * (len(token) - max(end, start))).translate(SPACES) or "∅"


def is_far(row: Fields, draws: int) -> bool:
    """Whether a row's count is far from the expected one. draws: samples in all rows together."""
    expected = row["share"] * draws
    return abs(row["seen"] - expected) > FAR * (expected * (1 - row["share"])) ** 0.5


# -- a test ----------------------------------------------------------------------------------------


def tables_of(test: Fields) -> Markup:
    """What stands below the verdict of a test."""
    columns = element("div", _cells(test), _finds(test), class_="ls-columns")
    scope = element("p", SCOPE, class_="ls-say ls-dim")
    return element("div", columns, scope, class_="sq-stage ls-stage sq-frame")


def _cells(test: Fields) -> Markup:
    """How often each outcome was sampled, and how often it was expected."""
    left = test["count"] - min(len(test["rows"]), MOST)
    more = f"{left:,} more in the CSV file{', once the test is over' * test['going']}. "
    heads = (report.term("outcome", "cells"), "probability", "expected", "samples", "difference")
    lines = (_cell(row, test["draws"]) for row in test["rows"][:MOST])
    title = "Samples of each outcome"
    return report.panel(
        "cells",
        title,
        [] if test["going"] else [csv_link(_file_name(test), _csv_rows(test))],
        report.scrolled(title, report.table(heads, lines, "ls-cells"), "ls-table sq-more-below"),
        element("p", more if left else "", "Probabilities are exact, samples are measured."),
    )


def _cell(row: Fields, draws: int) -> Markup:
    tokens, rest = name_of(row)
    expected = row["share"] * draws
    away = row["seen"] - expected
    name = element("span", *(element("code", one) for one in tokens), rest)
    shown = element("span", _signed(away), class_="ls-far" if is_far(row, draws) else None)
    return report.row(name, _percent(row["share"]), _count(expected), f"{row['seen']:,}", shown)


def _csv_rows(test: Fields) -> Iterator[tuple[object, ...]]:
    yield "outcome", "probability (exact)", "expected", "samples (measured)", "decoder"
    for row in test["rows"]:
        tokens, rest = name_of(row)
        name = " ".join(filter(None, (*tokens, rest)))
        yield name, row["share"], row["share"] * test["draws"], row["seen"], test["decoder"]


def _file_name(test: Fields) -> str:
    return f"lossless-broken-on-purpose-{test['broken']}" if test["broken"] else "lossless"


def _finds(test: Fields) -> Markup | None:
    """With what probability the test finds each bug."""
    if not test["finds"]:
        return None
    samples = test["wanted"] if test["going"] or not test["draws"] else test["draws"]
    found = f"found with probability ({samples:,} samples)"
    heads = ("bug", report.term("bias", "bias of a bug"), report.term(found, "power of a test"))
    lines = (report.row(one["label"], _bias(one), *_found(one)) for one in test["finds"])
    rows = ((one["label"], one["distance"], one["power"]) for one in test["finds"])
    file = csv_link("lossless-bugs", [("bug", "bias", f"power, {samples} samples"), *rows])
    tools = [report.badge("predicted"), file]
    table = report.table(heads, lines, "ls-finds")
    return report.panel("finds", "What this test would find", tools, table)


def _bias(one: Fields) -> str:
    distance = one["distance"]
    if distance is None:
        return "–"
    return "none here" if distance < NO_BIAS else _percent(distance)


def _found(one: Fields) -> Iterator[Markup]:
    power, is_biased = one["power"], (one["distance"] or 0) >= NO_BIAS
    is_hidden = power is not None and power < SHOWS
    why = element("p", one["hides"], class_="ls-dim") if is_hidden else None
    yield element("span", found_words(power, is_biased, is_hidden), why)


NO_BIAS = 1e-9  # a smaller bias is rounding
SHOWS = 0.5  # a bug with a smaller probability of being found is called hidden


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.001 or share == 0 else f"{100 * share:.2g}%"


def _count(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _signed(value: float) -> str:
    text = f"{value:+.1f}" if abs(value) < 100 else f"{value:+.0f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


# -- recorded tests --------------------------------------------------------------------------------


@cache
def recorded() -> Markup:
    """Two recorded tests side by side: one of the correct decoder, one of a decoder with a bug."""
    found = load_json(FILE)
    tests = found["tests"]
    most = max(
        max(row["share"], row["seen"] / one["draws"]) for one in tests for row in one["rows"]
    )
    words = f"{OF_RECORDED} Recorded on {found['machine']}, {found['date']}."
    pair = element("div", *(_recorded(one, most) for one in tests), class_="ls-pair")
    look = {"class_": "sq-stage ls-stage sq-frame ls-intro", "data_part": "recorded"}
    how = element("details", element("summary", "How to read this"), element("p", words))
    return element("div", pair, how, **look)


def _recorded(test: Fields, most: float) -> Markup:
    """most: the share whose bar fills its whole track."""
    title = "A decoder broken on purpose" if test["broken"] else "The correct decoder"
    heads = ("words", "share", "sampled", "exact")
    lines = (_bar(row, test["draws"], most) for row in test["rows"])
    return report.panel(
        f"recorded-{test['broken'] or 'correct'}",
        title,
        [report.badge("recorded"), csv_link(f"recorded-{_file_name(test)}", _csv_rows(test))],
        element("p", RECORDED_WORDS[test["broken"]], class_="ls-words", data_kind=test["kind"]),
        report.table(heads, lines, "ls-bars"),
        element("p", far_words(test), class_="ls-dim"),
    )


def _bar(row: Fields, draws: int, most: float) -> Markup:
    tokens, rest = name_of(row)
    seen = row["seen"] / draws
    track = element(
        "div",
        element("div", class_="ls-fill", style=f"width: {seen / most:.1%}"),
        element("div", class_="ls-exact", style=f"left: {row['share'] / most:.1%}"),
        class_="ls-track",
        data_far=is_far(row, draws),
    )
    name = " ".join(filter(None, (*tokens, rest)))
    return report.row(name, track, f"{seen:.1%}", f"{row['share']:.1%}")
