"""The Paper view: its tables show the paper's numbers, and each claim has a verdict that follows
from the recorded results."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from visits import csv_files

from sequoia.experiments.claims import DIFFERS, HOLDS, NOT_TESTED, VERDICTS
from sequoia.experiments.result import ExperimentResult
from sequoia.experiments.runner import EXPERIMENTS
from sequoia.planning.paper_results import PaperTable, paper_file, paper_tables
from ui.paper import claims
from ui.paper.claims import all_claims
from ui.paper.tab import page
from ui.paper.tables import speedup_table, sweep_table

RESULTS = [
    (table, result) for table in paper_tables() for row in table.rows for result in row.results
]


class Cells(HTMLParser):
    """The texts of all table cells, row by row, and the tags that are still open at the end."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.lines: list[list[str]] = []
        self.open: list[str] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.lines.append([])
        if tag in ("th", "td"):
            self.lines[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"th", "td"} & set(self.open):
            self.lines[-1][-1] += data


def test_the_markup_is_well_formed() -> None:
    assert Cells(page()).open == []


@pytest.mark.parametrize("table", paper_tables(), ids=lambda table: table.key)
def test_a_table_holds_the_papers_figures_and_their_deviation(table: PaperTable) -> None:
    heads, *lines = Cells(speedup_table(table)).lines
    assert ("× tokens" in heads[1]) == (table.sequences is not None)
    results = [result for row in table.rows for result in row.results]
    assert len(lines) == len(results)
    for line, result in zip(lines, results, strict=True):
        tokens, paper, simulated, away = line[-4:]
        assert tokens == f"{result.tokens:.2f}"
        assert paper == f"{result.speedup:.2f}×"
        assert simulated == f"{table.simulated(result):.2f}×"
        expected = 100 * (table.simulated(result) / result.speedup - 1)
        assert float(away.strip("%").replace("−", "-")) == pytest.approx(expected, abs=0.051)


@pytest.mark.parametrize(("i", "best"), [(0, ["3.70"]), (1, ["2.42", "2.42"])])
def test_a_sweep_shows_each_speedup_and_marks_the_best(i: int, best: list[str]) -> None:
    sweep = paper_file()["sweeps"][i]
    markup = sweep_table(sweep)
    shown = [line[1:] for line in Cells(markup).lines[1:]]
    printed = [["" if x is None else f"{x:.2f}" for x in line] for line in sweep["speedups"]]
    assert shown == printed
    assert re.findall(r"<td data-best>([^<]*)", markup) == best


def test_the_tables_can_be_had_as_csv() -> None:
    tables = csv_files(page())
    assert all(len({len(row) for row in rows}) == 1 for rows in tables.values())
    assert len(tables["sequoia-claims.csv"]) == 1 + len([*all_claims()])
    speedups = [
        row for panel in paper_file()["panels"] for row in tables[f"sequoia-{panel['key']}.csv"][1:]
    ]
    assert len(speedups) == len(RESULTS)


# -- claims ----------------------------------------------------------------------------------------


def test_every_claim_has_a_verdict_and_every_experiment_a_claim() -> None:
    found = [*all_claims()]
    assert {one.evidence.verdict for one in found} <= {*VERDICTS} - {NOT_TESTED}
    assert all(one.evidence.label for one in found)
    assert {one.experiment for one in found} - {""} == EXPERIMENTS.keys()
    panels = {one.panel for one in found} - {""}
    assert all(f'data-part="{panel}"' in page() for panel in panels)
    assert {panel["key"] for panel in paper_file()["panels"]} <= panels


def test_a_result_that_contradicts_a_claim_changes_its_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same result with lower ratios."""
    usual = claims.recorded_result
    result = usual("budget")
    worse = [
        one.model_copy(update={"ratio": one.ratio._replace(mean=0.8, low=0.7, high=0.9)})
        for one in result.ratios
    ]
    changed = result.model_copy(update={"ratios": tuple(worse)})

    def verdict(of_budget: ExperimentResult) -> str:
        results = {"budget": of_budget}
        monkeypatch.setattr(claims, "recorded_result", lambda name: results.get(name, usual(name)))
        (found,) = (one for one in all_claims() if one.experiment == "budget")
        return found.evidence.verdict

    assert verdict(result) == HOLDS
    assert verdict(changed) == DIFFERS
