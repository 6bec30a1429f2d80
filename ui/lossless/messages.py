"""Messages to the browser about a losslessness test: its counts, its verdict in words, and the bugs
that the test would find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sequoia.exactness.losslessness.bugs import BUGS
from sequoia.exactness.losslessness.comparison import Cell, Comparison
from sequoia.exactness.losslessness.losslessness_test import Findable
from sequoia.validate_input import json_text
from ui.lossless.lossless_job import Sampled
from ui.lossless.tables import shown_test
from ui.serving.job import Report
from ui.words.losslessness import BUG_WORDS, decoder_name, progress_words, test_words

MOST_ROWS = 24  # in a message during a test; the last message has all rows
_LETTERS = "abcdefgh"  # the texts of a toy's tokens; a toy is a pair with a tiny vocabulary


def refusal_message(error: str) -> str:
    """A message that says why no test is running. An empty `error` clears the banner."""
    return json_text({"error": error})


def report_message(report: Report, show: Callable[[Mapping[str, Any]], str] = shown_test) -> str:
    """A message about a test in progress, or about one that has ended. show: makes the HTML of the
    test from its `test_fields`."""
    going = not report.over
    message: dict[str, Any] = {
        "share": report.share if going else None,
        "words": report.words if going else "",
        "error": f"Not tested: {report.error}" if report.error else None,
    }
    if report.result is not None:
        message["shown"] = show(test_fields(report.result, going))
    elif report.words and not going:
        message["notice"] = report.words
    return json_text(message)


def test_fields(sampled: Sampled, going: bool) -> dict[str, Any]:
    """What is shown of a test.

    decoder: "correct", or the name of the broken decoder. broken: the key of its bug, or None.
    going: whether more samples are being drawn. draws, wanted: samples so far, and planned.
    rows: see `_rows`; while the test goes on, only the first. count: the number of all rows.
    distance: total variation. floor: its mean for a correct decoder. kind: of the verdict, "fits"
    or "differs", or "open" if there is none yet. finds: the bugs that the test would find."""
    if not going:
        sampled = _ended(sampled)
    comparison = sampled.comparison
    setting = sampled.test.setting
    rows = _rows(sampled)
    return {
        "decoder": decoder_name(setting.decoding.bug),
        "broken": setting.bug if setting.bug in BUGS else None,
        "going": going,
        "draws": comparison.draws,
        "wanted": setting.samples,
        "rows": rows[:MOST_ROWS] if going else rows,
        "count": len(rows),
        "p_value": comparison.fit.p_value,
        "distance": comparison.total_variation,
        "floor": comparison.noise_floor,
        "kind": _kind(comparison, going),
        "verdict": _verdict(sampled, going),
        "finds": [_finds(one) for one in sampled.findable],
    }


def _ended(sampled: Sampled) -> Sampled:
    """The test after it has ended. Its verdict and its power are for the samples that were drawn,
    which may be fewer than planned."""
    draws = sampled.comparison.draws
    findable = sampled.findable
    if draws:
        findable = tuple(one.after(draws) for one in findable)
    return replace(sampled, comparison=sampled.comparison.ended, findable=findable)


def _kind(comparison: Comparison, going: bool) -> str:
    if going or comparison.fit.p_value is None:
        return "open"
    return "differs" if comparison.fit.differs else "fits"


def _verdict(sampled: Sampled, going: bool) -> str:
    """The result in words, or while the test is `going`, the number of samples so far."""
    wanted = sampled.test.setting.samples
    if going:
        return progress_words(sampled.comparison.draws, wanted)
    return test_words(sampled.comparison, sampled.test.grouping, sampled.findable)


def _finds(one: Findable) -> dict[str, Any]:
    return {
        "key": one.bug.key,
        "label": BUG_WORDS[one.bug.key].label,
        "distance": one.distance,
        "power": one.power,
        "hides": BUG_WORDS[one.bug.key].hides,
    }


# -- the table -------------------------------------------------------------------------------------


def _rows(sampled: Sampled) -> list[dict[str, Any]]:
    """One row for each group of cells, in the order of `chi_square.groups`. If there are samples
    that the target would never emit, one more row counts them."""
    comparison = sampled.comparison
    grouping = comparison.grouping
    cells = sampled.test.cells.all
    named = [_name([cells[i] for i in group], sampled.piece) for group in grouping.groups]
    shares = grouping.grouped(grouping.shares)
    seen = grouping.grouped(comparison.counts)
    rows = [
        {**name, "share": share, "seen": int(count)}
        for name, share, count in zip(named, shares, seen, strict=True)
    ]
    impossible = int(grouping.impossible(comparison.counts))
    if impossible:
        rows.append({"tokens": [], "rest": "impossible", "share": 0.0, "seen": impossible})
    return rows


def _name(group: list[Cell], piece: Callable[[int], str] | None) -> dict[str, Any]:
    """The name of the row for a group of cells.

    tokens: the texts of the first cell's tokens. rest: "" if the row counts the samples that begin
    with these tokens; "other" if only those whose next token is not counted separately. "more" and
    "other more": as "" and "other", but the row also counts rare cells. "rare": the row counts
    several rare cells, and `tokens` is empty.
    """
    first = group[0]
    text = _letter if piece is None else piece
    if len(group) > 1 and not _is_common(group):
        return {"tokens": [], "rest": "rare"}
    rest = ["other"] * first.is_rest + ["more"] * (len(group) > 1)
    return {"tokens": [text(token) for token in first.tokens], "rest": " ".join(rest)}


def _is_common(group: list[Cell]) -> bool:
    """Whether the first cell of a group is more probable than all other cells of the group
    together. This always holds if rare cells were added to a common one."""
    return group[0].share > sum(cell.share for cell in group[1:])


def _letter(token: int) -> str:
    return _LETTERS[token]
