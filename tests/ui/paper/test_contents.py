"""The Paper view: its tables show the paper's numbers, markup in recorded texts is escaped, and
claims that have neither a recorded result nor a prediction are marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sequoia.experiments.registry import EXPERIMENTS
from sequoia.planning.paper_results import PaperTable, paper_file, paper_tables
from ui.experiments import messages
from ui.paper import contents
from ui.paper.contents import Finding, findings, page
from ui.paper.tab import RANGE, speedups_figure
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


def test_the_figure_has_every_speedup_inside_its_axes() -> None:
    traces = speedups_figure()["data"]
    points = [point for trace in traces for point in zip(trace["x"], trace["y"], strict=True)]
    wanted = [(result.speedup, round(table.simulated(result), 3)) for table, result in RESULTS]
    assert sorted(points) == sorted(wanted)
    low, high = (10**end for end in RANGE)
    room = (high / low) ** 0.03  # at each edge, for the marker around its point
    assert all(low * room < value < high / room for point in points for value in point)
    hidden = [trace for trace in traces if not trace["showlegend"]]
    assert all(trace["marker"]["symbol"].endswith("-open") for trace in hidden)


# -- recorded experiments --------------------------------------------------------------------------


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Finding]]:
    """The findings of recorded experiments; at first none."""
    findings = dict[str, Finding]()
    monkeypatch.setattr(contents, "findings", lambda: findings)
    contents.page.cache_clear()
    yield findings
    contents.page.cache_clear()


@pytest.mark.parametrize("name", ["temperature", "top-p"])
def test_a_note_on_our_trees_follows_the_recorded_finding(name: str) -> None:
    data = paper_file()
    about = [one for one in (*data["claims"], *data["panels"]) if one.get("experiment") == name]
    (note,) = (one["here"] for one in about)
    assert f"its own tree of {EXPERIMENTS[name].sizes['full']['nodes']} nodes" in note
    assert f"{findings()[name].answer} {note}" in page()


def test_a_recorded_finding_stands_beside_the_papers(found: dict[str, Finding]) -> None:
    found["top-p"] = Finding("<b>${ahead}</b>", "recorded")
    shown = page()
    assert "&lt;b&gt;&#36;&#123;ahead&#125;&lt;/b&gt;" in shown
    assert 'data-label="recorded"' in shown
    assert shown.count("No result recorded yet.") == 3


def test_findings_come_from_the_recorded_results_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert findings().keys() == EXPERIMENTS.keys()
    assert findings()["hardware"].source == "simulated"
    monkeypatch.setattr(messages, "FOLDER", tmp_path)
    (tmp_path / "ranks.json").write_text("{", encoding="utf-8")
    assert findings.__wrapped__() == {}
