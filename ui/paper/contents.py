"""The markup of the Paper tab. It is written once, when the page is built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from sequoia.experiments.claims import VERDICTS
from sequoia.planning.paper_results import paper_file, paper_tables
from sequoia.planning.published import Published, published_figures
from ui.paper.claims import Claim, all_claims
from ui.paper.tables import deviations, speedup_rows, speedup_table, sweep_table
from ui.shared import report
from ui.shared.markup import Markup, csv_link, element
from ui.words.paper import INTRODUCTION, OF_CLAIMS, OF_SCALE, OF_SIMULATIONS, OF_SWEEPS, RULES


@cache
def page() -> str:
    """Everything in the tab except the figures, which the browser adds."""
    data = paper_file()
    return element(
        "div",
        element(
            "div",
            _introduction(data["paper"]),
            _claims([*all_claims()]),
            _scale(published_figures()),
            report.folded(
                "simulated",
                "Simulated vs. paper, all speed-ups",
                "simulated",
                _say(OF_SIMULATIONS),
                element("div", data_part="speedups-host"),
            ),
            *(_speedups(panel) for panel in data["panels"]),
            _sweeps(data["sweep"], data["sweeps"]),
            _facts("compared", "What can be compared", data["compared"]),
            _facts("not-compared", "What cannot be compared, and why", data["not_compared"]),
            class_="sq-frame",
        ),
        class_="sq-stage pp-stage",
    )


def _introduction(paper: Mapping[str, str]) -> Markup:
    source = f"{paper['authors']}. {paper['version']}."
    link = element(
        "a", paper["title"], href=paper["url"], target="_blank", rel="noopener", title=source
    )
    return element("header", _say(link, INTRODUCTION), class_="pp-intro")


def _say(*words: str, **look: object) -> Markup:
    return element("p", *words, class_="pp-say", **look)


def _facts(part: str, title: str, facts: Sequence[Sequence[str]]) -> Markup:
    parts = (one for name, text in facts for one in (element("dt", name), element("dd", text)))
    return report.folded(part, title, "", element("dl", *parts, class_="pp-facts"))


# -- claims ----------------------------------------------------------------------------------------


def _claims(claims: Sequence[Claim]) -> Markup:
    heads = ("Claim", "Paper", "Here", "Verdict")
    lines = report.table((*heads, "Open"), (_claim(one, heads) for one in claims), "pp-claims")
    link = csv_link("claims", [(*heads[:2], "Source", "Label", *heads[2:]), *_claim_rows(claims)])
    counts = Counter(one.evidence.verdict for one in claims)
    words = " · ".join(f"{one}: {counts[one]}" for one in VERDICTS if counts[one])
    return report.panel("claims", f"{len(claims)} claims · {words}", [link], lines, _how())


def _how() -> Markup:
    return element("details", element("summary", "How to read this"), _say(OF_CLAIMS))


def _claim_rows(claims: Sequence[Claim]) -> Iterator[tuple[str, ...]]:
    for one in claims:
        found = one.evidence
        yield one.text, found.paper, one.source, found.label, found.here, found.verdict


def _claim(claim: Claim, heads: Sequence[str]) -> Markup:
    found = claim.evidence
    source = element("small", claim.source)
    why = [element("p", text) for text in (claim.about, RULES[claim.rule]) if text]
    what = element("details", element("summary", claim.text, source), *why)
    badge = report.badge(found.label) if found.label else None
    return element(
        "tr",
        element("th", what, scope="row"),
        element("td", found.paper, data_column=heads[1]),
        element("td", badge, f" {found.here}", data_column=heads[2]),
        element("td", found.verdict, data_column=heads[3], data_verdict=found.verdict),
        element("td", *_actions(claim), class_="pp-actions"),
    )


def _actions(claim: Claim) -> Iterator[Markup]:
    """Buttons that show the claim's tables or experiment, and that run the experiment."""
    if claim.panel:
        yield _button("Table", claim, data_shows=claim.panel)
    if claim.experiment:
        yield _button("Open", claim, data_address=f"evidence/experiments&name={claim.experiment}")
        yield _button("Run", claim, data_run=claim.experiment)
    if claim.rule == "lossless":
        yield _button("Open", claim, data_address="evidence/lossless")
    if claim.rule == "tuned":
        yield _button("Scale", claim, data_shows="scale")


def _button(words: str, claim: Claim, **look: object) -> Markup:
    label = f"{words}: {claim.text}"
    return element("button", words, type="button", class_="sq-btn", aria_label=label, **look)


# -- one scale -------------------------------------------------------------------------------------


def _scale(figures: Sequence[Published]) -> Markup:
    heads = (
        "System",
        "Card, model",
        "ms / token",
        "Tokens / s",
        "Floor, ms",
        "Speed, floor = 1",
        "Speed-up, as stated",
    )
    rows = [_scale_row(one) for one in figures]
    both = [*zip(figures, rows, strict=True)]
    lines = (report.row(*row, element("span", *_source(one))) for one, row in both)
    files = ((*row, one.label, one.source, one.url) for one, row in both)
    title = "Published speeds on one scale"
    return report.panel(
        "scale",
        title,
        [csv_link("published", [(*heads, "Label", "Source", "Address"), *files])],
        _say(OF_SCALE),
        element("div", data_part="scale-host"),
        report.scrolled(title, report.table((*heads, "Source"), lines, "pp-scale"), "pp-scroll"),
    )


def _scale_row(one: Published) -> tuple[str, ...]:
    return (
        one.system,
        f"{one.card}, {one.model}",
        f"{one.ms:,.4g}",
        f"{one.tokens_per_second:,.4g}",
        f"{one.floor_ms:,.3g}",
        f"{one.over_floor:.2f}",
        f"{one.claimed:.2f}×" if one.claimed else "plain",
    )


def _source(one: Published) -> Iterator[Markup | str]:
    yield report.badge(one.label)
    yield " "
    if one.url:
        yield element("a", one.source, href=one.url, target="_blank", rel="noopener")
    else:
        yield one.source


# -- tables ----------------------------------------------------------------------------------------


def _speedups(panel: Mapping[str, Any]) -> Markup:
    tables = [table for table in paper_tables() if table.panel == panel["key"]]
    clocks = " ".join(dict.fromkeys(table.clock_source for table in tables))
    return report.folded(
        panel["key"],
        panel["title"],
        panel["source"],
        _say(panel["about"]),
        element("div", *map(speedup_table, tables), class_="pp-tables"),
        _say(element("b", "Simulated vs. paper: "), f"{deviations(tables)}."),
        _say(f"Clock: {clocks}"),
        csv_link(panel["key"], speedup_rows(tables)),
    )


def _sweeps(about: Mapping[str, Any], sweeps: Sequence[Mapping[str, Any]]) -> Markup:
    boxes = (
        report.scrolled(sweep["source"], sweep_table(sweep), "pp-scroll sq-more-right")
        for sweep in sweeps
    )
    return report.folded(
        "sweep",
        about["title"],
        about["source"],
        _say(about["about"]),
        element("div", *boxes, class_="pp-tables"),
        _say(OF_SWEEPS),
        csv_link("specinfer-sweeps", _sweep_rows(sweeps)),
    )


def _sweep_rows(sweeps: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    yield "temperature", "sequences", "tokens per sequence", "speed-up (paper)"
    for sweep in sweeps:
        for width, values in zip(sweep["widths"], sweep["speedups"], strict=True):
            for length, value in zip(sweep["lengths"], values, strict=True):
                if value is not None:
                    yield sweep["temperature"], width, length, value
