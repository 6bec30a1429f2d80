"""Tests of decoders as markup, for Lossless and the tour: buttons that choose a decoder; counts as
bars, recorded ones at first; and the bugs that a test would find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from sequoia.assets_folder import ASSETS
from sequoia.exactness.losslessness.settings import CORRECT
from sequoia.text_files import load_json
from ui.shared import report
from ui.shared.markup import Markup, csv_link, element
from ui.words.losslessness import (
    BUG_WORDS,
    HOW_TO_READ,
    RECORDED_WORDS,
    SCOPE,
    BugWords,
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
    "impossible": "never emitted by the large model",
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


def shown_test(test: Fields) -> Markup:
    """A test that was run here, and the bugs that it would find."""
    scope = element("details", element("summary", "What this test covers"), element("p", SCOPE))
    return element("div", shown_counts(test), _finds(test), scope, class_="sq-cells")


def shown_counts(test: Fields) -> Markup:
    """The counts of a test that was run here. Beside them, if it has the same setting, a recorded
    test: of the correct decoder for a broken one, and the other way round."""
    correct, broken = load_json(FILE)["tests"]
    is_same = [row["share"] for row in correct["rows"]] == [row["share"] for row in test["rows"]]
    pair = (correct, test) if test["broken"] else (test, broken)
    return _side_by_side(pair if is_same else (test,), test["broken"])


def _side_by_side(tests: Sequence[Fields], tested: str | None) -> Markup:
    """The pictures of `tests`. tested: the bug of the one whose button is marked as chosen. Only
    a test that was run here has a verdict."""
    most = max(map(_longest, tests))
    pictures = (_picture(one, most) for one in tests)
    return element("div", *pictures, class_="ls-pair sq-cells", data_tested=tested or CORRECT)


def _csv_rows(test: Fields, label: str) -> Iterator[tuple[object, ...]]:
    yield "outcome", "probability (exact)", "expected", f"samples ({label})", "decoder"
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
    why = element("p", one["hides"], class_="sq-dim") if is_hidden else None
    yield element("span", found_words(power, is_biased, is_hidden), why)


NO_BIAS = 1e-9  # a smaller bias is rounding
SHOWS = 0.5  # a bug with a smaller probability of being found is called hidden


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.001 or share == 0 else f"{100 * share:.2g}%"


# -- counts as bars --------------------------------------------------------------------------------


@cache
def opening() -> Markup:
    """Buttons that test a decoder, above two recorded tests: one of the correct decoder, which the
    form has too, one of a decoder with a bug."""
    group = {"role": "group", "aria_label": "Decoder to test", "class_": "ls-acts sq-wrap"}
    labels = {CORRECT: "correct", **{key: BUG_WORDS[key].label for key in ON_A_TOY}}
    acts = (
        element("button", label, type="button", class_="sq-btn", data_bug=key)
        for key, label in labels.items()
    )
    found = load_json(FILE)
    words = f"{HOW_TO_READ} The recorded tests were made on {found['machine']}, {found['date']}."
    recorded = _side_by_side(found["tests"], None)
    return element(
        "div",
        element("div", *acts, **group),
        element("div", recorded, data_part="tests"),
        element("details", element("summary", "How to read this"), element("p", words)),
        class_="ls-stage sq-cells",
    )


ON_A_TOY = ("draft-noise", "walk-u", "last-token")  # bugs that a test with a toy can find


_HEADS = (report.term("outcome", "cells"), "share", "sampled", "exact")


def _longest(test: Fields) -> float:
    """The largest share of an outcome, sampled or exact."""
    draws = test["draws"] or 1
    return max(max(row["share"], row["seen"] / draws) for row in test["rows"])


def _picture(test: Fields, most: float) -> Markup:
    """A test with one bar for each outcome. most: the share whose bar fills its whole track."""
    is_own = "verdict" in test
    label = "measured" if is_own else "recorded"
    verdict = test["verdict"] if is_own else RECORDED_WORDS[test["broken"]]
    is_whole = not test.get("going")
    own = f"{'recorded-' * (label == 'recorded')}{_file_name(test)}"
    tools = [report.badge(label), csv_link(own, _csv_rows(test, label)) if is_whole else None]
    rows = test["rows"][:MOST]
    lines = (_bar(row, test["draws"] or 1, most) for row in rows)
    left = test.get("count", len(rows)) - len(rows)
    feet = [far_words(test)] if test["draws"] else []
    feet += [f"{left:,} more outcomes in the CSV file."] if left > 0 else []
    bug = BUG_WORDS.get(test["broken"])
    return report.panel(
        f"{label}-{test['broken'] or 'correct'}",
        f"Broken ({bug.label})" if bug else "The correct decoder",
        filter(None, tools),
        element(
            "div",
            element("p", verdict, class_="ls-words", data_kind=test["kind"]),
            element("p", bug.about) if bug else None,
        ),
        report.table(_HEADS, lines, "ls-bars"),
        element("details", element("summary", "In detail"), *_details(" ".join(feet), bug)),
    )


def _details(feet: str, bug: BugWords | None) -> Iterator[Markup]:
    """How far off the counts are, and where a broken decoder shows."""
    yield element("p", feet)
    if bug:
        for name, words in (("Where it shows", bug.shows), ("Why it hides elsewhere", bug.hides)):
            yield element("p", element("b", f"{name}. "), words)


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
    codes = [part for token in tokens for part in (element("code", token), " ")]
    name = element("span", *codes, rest)
    return report.row(name, track, f"{seen:.1%}", f"{row['share']:.1%}")
