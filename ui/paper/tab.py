"""The Paper tab: the paper's claims, and tables that the server writes once. The browser draws two
figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import gradio as gr

from sequoia.experiments.claims import VERDICTS
from sequoia.planning.paper_results import paper_file, paper_tables
from sequoia.planning.published import Published, published_figures
from sequoia.validate_input import json_text
from ui.paper.claims import Claim, all_claims
from ui.paper.figures import scale_figure, speedups_figure
from ui.paper.tables import deviations, speedup_rows, speedup_table, sweep_table
from ui.shared import report
from ui.shared.layout import drawn
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
            element(
                "details",
                element("summary", "Figures and tables"),
                element("div", *_figures(data), class_="sq-frame"),
            ),
            class_="sq-frame",
        ),
        class_="sq-stage pp-stage",
    )


def _figures(data: Mapping[str, Any]) -> Iterator[Markup]:
    """What stands behind the claims."""
    yield _scale(published_figures())
    yield report.folded(
        "simulated",
        "Simulated vs. paper, all speed-ups",
        "simulated",
        _say(OF_SIMULATIONS),
        element("div", data_part="speedups-host"),
    )
    yield from map(_speedups, data["panels"])
    yield _sweeps(data["sweep"], data["sweeps"])
    yield _facts("compared", "What can be compared", data["compared"])
    yield _facts("not-compared", "What cannot be compared, and why", data["not_compared"])


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


HEADS = ("Claim", "Verdict", "Paper", "Here")
OURS = "ours"  # the source of a claim that the paper does not make
FIRST = 8  # claims that are shown at first


def _claims(claims: Sequence[Claim]) -> Markup:
    of_paper = [one for one in claims if one.source != OURS]
    more = f"{_counted('more', of_paper[FIRST:])} · and {len(claims) - len(of_paper)} of our own"
    heads = ("Claim", "Paper", "Source", "Label", "Here", "Verdict")
    return report.panel(
        "claims",
        _counted("claims", of_paper),
        [csv_link("claims", [heads, *_claim_rows(claims)])],
        _claim_table(claims[:FIRST]),
        element("details", element("summary", more), _claim_table(claims[FIRST:])),
        element("details", element("summary", "How to read this"), _say(OF_CLAIMS)),
    )


def _counted(what: str, claims: Sequence[Claim]) -> str:
    """How many claims there are, and of each verdict: "14 claims · holds: 11 · differs: 1"."""
    counts = Counter(one.evidence.verdict for one in claims)
    return " · ".join(
        [f"{len(claims)} {what}", *(f"{one}: {counts[one]}" for one in VERDICTS if counts[one])]
    )


def _claim_table(claims: Sequence[Claim]) -> Markup:
    table = report.table((*HEADS, "Run"), map(_claim, claims), "pp-claims")
    return report.scrolled("Claims", table, "sq-wide sq-more-right")


def _claim_rows(claims: Sequence[Claim]) -> Iterator[tuple[str, ...]]:
    for one in claims:
        found = one.evidence
        yield one.text, found.paper, one.source, found.label, found.here, found.verdict


def _claim(claim: Claim) -> Markup:
    found = claim.evidence
    why = [element("p", text) for text in (claim.about, RULES[claim.rule]) if text]
    summary = element("summary", claim.text, element("small", claim.source))
    what = element("details", summary, *why, element("p", *_evidence(claim)))
    name = claim.experiment
    return element(
        "tr",
        element("th", what, scope="row"),
        element("td", found.verdict, data_verdict=found.verdict),
        element("td", found.paper),
        element("td", report.badge(found.label), f" {found.here}"),
        element("td", _button("Run it small", claim, data_run=name) if name else None),
    )


def _evidence(claim: Claim) -> Iterator[Markup]:
    """Buttons that show the claim's tables, experiment or test."""
    if claim.panel:
        yield _button("Show the table", claim, data_shows=claim.panel)
    if name := claim.experiment:
        address = f"evidence/experiments&name={name}"
        yield _button("Open the experiment", claim, data_address=address)
    if claim.rule == "lossless":
        yield _button("Open the test", claim, data_address="evidence/lossless")
    if claim.rule == "tuned":
        yield _button("Show the scale", claim, data_shows="scale")


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
    return report.folded(
        "scale",
        title,
        "paper",
        _say(OF_SCALE),
        element("div", data_part="scale-host"),
        report.scrolled(title, report.table((*heads, "Source"), lines, "pp-scale"), "sq-wide"),
        csv_link("published", [(*heads, "Label", "Source", "Address"), *files]),
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
    boxes = (
        report.scrolled(table.target, speedup_table(table), "sq-wide sq-more-right")
        for table in tables
    )
    return report.folded(
        panel["key"],
        panel["title"],
        panel["source"],
        _say(panel["about"]),
        element("div", *boxes, class_="pp-tables"),
        _say(element("b", "Simulated vs. paper: "), f"{deviations(tables)}."),
        _say(f"Clock: {clocks}"),
        csv_link(panel["key"], speedup_rows(tables)),
    )


def _sweeps(about: Mapping[str, Any], sweeps: Sequence[Mapping[str, Any]]) -> Markup:
    boxes = (
        report.scrolled(sweep["source"], sweep_table(sweep), "sq-wide sq-more-right")
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


# -- the component ---------------------------------------------------------------------------------


class PaperTab:
    """The tab's component."""

    def build(self) -> None:
        """Lay the view out in the current container."""
        drawn("pp", "paper/paper_view", [], page(), asked=self.get_paper_figures)

    def wire(self, _blocks: gr.Blocks) -> None:
        """Does nothing: the tab has no handlers."""

    def get_paper_figures(self, _asked: Any) -> str:
        """The figures, as JSON."""
        return _plots()


@cache
def _plots() -> str:
    """Made when the tab is first shown: Plotly takes a while to load."""
    figures = {"scale": scale_figure(), "speedups": speedups_figure()}
    return json_text({name: one.to_plotly_json() for name, one in figures.items()})
