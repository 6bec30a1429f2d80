"""The markup of the Paper tab. It is written once, when the page is built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sequoia import SequoiaError
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.algorithm.tree import Tree
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.paper_results import (
    PaperTable,
    paper_acceptance,
    paper_file,
    paper_tables,
)
from sequoia.planning.simulated_step_times import speedup
from ui.experiments.messages import recorded_result
from ui.paper.tables import deviations, speedup_table, sweep_table
from ui.shared.markup import Markup, element
from ui.words.experiments import WORDS
from ui.words.paper import (
    INTRODUCTION,
    NOT_RECORDED,
    OF_CLAIMS,
    OF_SWEEPS,
    graphs_words,
    shape_words,
)

NODES = 512  # the budget of the paper's comparison of shapes
MOST_SEQUENCES = 64
EXPERIMENTS = "Experiments"  # the label of the tab that the buttons open


@cache
def page() -> str:
    """Everything in the tab except the figure, which the browser adds."""
    data = paper_file()
    return element(
        "div",
        element(
            "div",
            _introduction(data["paper"]),
            element("div", data_part="figure-host"),
            *(_speedups(panel) for panel in data["panels"]),
            element(
                "div",
                _facts("compared", "What can be compared", data["compared"]),
                _facts("not-compared", "What cannot be compared, and why", data["not_compared"]),
                class_="pp-pair",
            ),
            _sweeps(data["sweep"], data["sweeps"]),
            _claims(data["claims"]),
            class_="sq-frame",
        ),
        class_="sq-stage pp-stage",
    )


def _panel(part: str, title: str, source: str, *body: Markup | None) -> Markup:
    badge = element("span", source, class_="sq-word") if source else None
    head = element("h2", element("span", title), badge, class_="sq-title")
    return element(
        "section",
        element("div", head, class_="sq-panel-head"),
        element("div", *body, class_="sq-panel-body"),
        class_="sq-panel",
        data_part=part,
        aria_label=title,
    )


def _say(*words: str, **look: object) -> Markup:
    return element("p", *words, class_="pp-say", **look)


def _note(*words: str) -> Markup:
    return element("p", *words, class_="pp-note")


# -- texts -----------------------------------------------------------------------------------------


def _introduction(paper: Mapping[str, str]) -> Markup:
    link = element("a", paper["title"], href=paper["url"], target="_blank", rel="noopener")
    source = f"{paper['authors']}. {paper['version']}."
    return element("header", _say(link, INTRODUCTION), _note(source), class_="pp-intro")


def _facts(part: str, title: str, facts: Sequence[Sequence[str]]) -> Markup:
    parts = (one for name, text in facts for one in (element("dt", name), element("dd", text)))
    return _panel(part, title, "", element("dl", *parts, class_="pp-facts"))


# -- tables ----------------------------------------------------------------------------------------


def _speedups(panel: Mapping[str, Any]) -> Markup:
    tables = [table for table in paper_tables() if table.panel == panel["key"]]
    clocks = " ".join(dict.fromkeys(table.clock_source for table in tables))
    return _panel(
        panel["key"],
        panel["title"],
        panel["source"],
        _say(panel["about"]),
        element("div", *map(speedup_table, tables), class_="pp-tables"),
        _say(element("b", "Simulated vs. paper: "), f"{deviations(tables)}."),
        _say(_with_graphs(tables[0], panel["graphs"])) if "graphs" in panel else None,
        _note(f"Clock: {clocks}"),
        _rerun(panel),
    )


def _with_graphs(table: PaperTable, name: str) -> str:
    """`graphs_words` for the speed-ups in `table`. name: the name of a profile that simulates the
    table's GPU with CUDA graphs."""
    profile = named_profile(name)
    plain = profile.plain_seconds
    results = [row.results[0] for row in table.rows]
    speedups = [speedup(one.tokens, one.tree, profile) for one in results]
    here = [1e3 * plain / ratio for ratio in speedups]
    paper = [1e3 * table.profile.plain_seconds / one.speedup for one in results]
    return graphs_words(1e3 * plain, speedups, here, paper)


def _sweeps(about: Mapping[str, Any], sweeps: Sequence[Mapping[str, Any]]) -> Markup:
    look = {"tabindex": "0", "role": "region", "class_": "pp-scroll sq-more-right"}
    boxes = (
        element("div", sweep_table(sweep), **look, aria_label=f"SpecInfer, {sweep['source']}")
        for sweep in sweeps
    )
    return _panel(
        "sweep",
        about["title"],
        about["source"],
        _say(about["about"]),
        element("div", *boxes, class_="pp-tables"),
        _note(OF_SWEEPS),
        _rerun(about),
    )


# -- ablations -------------------------------------------------------------------------------------


def _claims(claims: Sequence[Mapping[str, str]]) -> Markup:
    heads = ("In the paper", "Source", "In this program")
    rows = (
        element(
            "tr",
            element("th", claim["claim"], scope="row", data_column=heads[0]),
            element("td", claim["source"], data_column=heads[1]),
            element("td", *_here(claim), data_column=heads[2]),
        )
        for claim in claims
    )
    table = element(
        "table",
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *rows),
        class_="sq-table pp-claims",
    )
    return _panel("claims", "Varying one thing at a time", "", _say(OF_CLAIMS), table, _button())


def _here(claim: Mapping[str, str]) -> list[Markup]:
    experiment = claim["experiment"]
    predicted = [element("p", _shape_gain())] if experiment == "budget" else []
    found = findings().get(experiment)
    if found:
        return [*predicted, element("p", _badge(found.source), f" {_answer(found, claim)}")]
    return predicted or [element("p", NOT_RECORDED)]


def _shape_gain() -> str:
    """A comparison of tree shapes as in the paper, with the only acceptance vector that it
    prints."""
    acceptance = paper_acceptance()
    best = expected_tokens(best_tree(acceptance, NODES), acceptance)
    counts = range(1, MOST_SEQUENCES + 1)
    trees = (Tree.sequences(k, (NODES - 1) // k) for k in counts)
    rival = max(expected_tokens(tree, acceptance) for tree in trees)
    return shape_words(NODES, best, rival)


def _answer(found: Finding, about: Mapping[str, str]) -> str:
    """The finding’s answer, and the note that `about` has on the trees of this program, if any."""
    return " ".join((found.answer, *([about["here"]] if "here" in about else [])))


def _rerun(about: Mapping[str, Any]) -> Markup | None:
    """The finding of the experiment that repeats the tables of a panel. None if no such finding is
    recorded. about: the panel's entry in the paper file."""
    found = findings().get(about["experiment"] or "")
    if found is None:
        return None
    words = _say(_badge(found.source), f" With the bundled pair: {_answer(found, about)}")
    return element("div", words, _button(), class_="pp-rerun")


def _badge(source: str) -> Markup:
    return element("span", source, class_="sq-badge", data_label=source)


def _button() -> Markup:
    words = element("span", "Open Experiments")
    return element(
        "button", words, type="button", class_="sq-btn", data_opens=EXPERIMENTS, hidden=True
    )


@dataclass(frozen=True)
class Finding:
    """The answer to an experiment's question. source: where the numbers come from, such as
    "simulated"."""

    answer: str
    source: str


@cache
def findings() -> dict[str, Finding]:
    """The findings of all recorded experiments by name. A damaged file is skipped."""
    found = {name: _finding(name) for name in WORDS}
    return {name: one for name, one in found.items() if one}


def _finding(name: str) -> Finding | None:
    try:
        result = recorded_result(name)
    except SequoiaError:
        return None
    if result is None:
        return None
    view = WORDS[name].view(result)
    return Finding(view["finding"].split("\n")[0], view["source"])
