"""The tables of the Paper tab as markup: the paper's speed-ups beside the simulated ones, and
tables of the paper's speed-ups alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sequoia.planning.paper_results import OURS, SEQUENCES, PaperResult, PaperRow, PaperTable
from ui.shared.markup import Markup, element
from ui.words.figures import signed

HEADS = (  # the heads of the columns after the first two
    ("Tokens per step", "paper"),
    ("Speed-up", "paper"),
    ("Speed-up", "simulated"),
    ("Deviation", ""),
)


def speedup_table(table: PaperTable) -> Markup:
    """The markup of `table`. Each row becomes a group of lines, one line for each verifier."""
    title = f"{table.target} with {table.draft}"
    first = "Top-p" if table.panel == "top-p" else "Texts"
    sizes = "nodes / levels" + ", or sequences × tokens" * (table.sequences is not None)
    heads = ((first, ""), ("Verifier", sizes), *HEADS)
    return element(
        "table",
        element("caption", element("b", title), f" · {table.source}"),
        element("thead", element("tr", *(_head(*head) for head in heads))),
        *(_row(table, row) for row in table.rows),
        class_="sq-table pp-table",
    )


def speedup_rows(tables: Sequence[PaperTable]) -> Iterator[tuple[object, ...]]:
    """The rows of `tables` for a CSV file."""
    yield (
        *("large model", "small model", "machine", "texts", "temperature"),
        *("verifier", "nodes", "levels"),
        *("tokens per step (paper)", "speed-up (paper)", "speed-up (simulated)"),
    )
    for table in tables:
        for row in table.rows:
            place = (table.target, table.draft, table.machine, row.texts, row.temperature)
            for one in row.results:
                size = (METHODS[one.method], len(one.tree), one.tree.levels)
                simulated = round(table.simulated(one), 3)
                yield *place, *size, one.tokens, one.speedup, simulated


def deviations(tables: Sequence[PaperTable]) -> str:
    """For each verifier, the range of the deviations of its simulated speed-ups from the paper's:
    "Sequoia −1.2% to +3.4%, ..."."""
    shares: dict[str, list[float]] = {}
    for table in tables:
        for result in (result for row in table.rows for result in row.results):
            share = deviation(table.simulated(result), result.speedup)
            shares.setdefault(METHODS[result.method], []).append(share)
    return ", ".join(f"{method} {spread(found)}" for method, found in shares.items())


def sweep_table(sweep: Mapping[str, Any]) -> Markup:
    """A table of the paper's speed-ups by the number of sequences (lines) and their length
    (columns). The largest speed-up is marked."""
    lines = list(zip(sweep["widths"], sweep["speedups"], strict=True))
    best = max(value for _, values in lines for value in values if value is not None)
    caption = f"T = {sweep['temperature']:g} (Sequoia’s tree reaches {times(sweep[OURS])})"
    heads = (element("th", str(length), scope="col") for length in sweep["lengths"])
    corner = element("th", "k ↓", element("small", "tokens each →"), scope="col")
    return element(
        "table",
        element("caption", element("b", caption), f" · {sweep['source']}"),
        element("thead", element("tr", corner, *heads)),
        element("tbody", *(_sweep_row(width, values, best) for width, values in lines)),
        class_="sq-table pp-sweep",
    )


def _head(words: str, label: str) -> Markup:
    return element("th", words, element("small", label) if label else None, scope="col")


def _row(table: PaperTable, row: PaperRow) -> Markup:
    """A group of lines with the same texts and temperature."""
    temperature = None if row.temperature is None else f"T = {row.temperature:g}"
    small = element("small", temperature) if temperature else None
    texts = element(
        "th", row.texts.removeprefix("top-p "), small, scope="rowgroup", rowspan=len(row.results)
    )
    first, *others = [_cells(table, result) for result in row.results]
    return element(
        "tbody",
        element("tr", texts, *first),
        *(element("tr", *cells, class_="pp-beside") for cells in others),
    )


def _cells(table: PaperTable, result: PaperResult) -> list[Markup]:
    simulated = table.simulated(result)
    words = [
        f"{result.tokens:.2f}",
        times(result.speedup),
        times(simulated),
        signed(deviation(simulated, result.speedup), 1),
    ]
    small = element("small", _tree_words(table, result))
    name = element("th", METHODS[result.method], small, scope="row")
    return [name, *(element("td", word) for word in words)]


def _tree_words(table: PaperTable, result: PaperResult) -> str:
    if result.method == SEQUENCES and table.sequences:
        k, length = table.sequences
        return f"{k} × {length}"
    return f"{len(result.tree)} / {result.tree.levels}"


def _sweep_row(width: int, values: Sequence[float | None], best: float) -> Markup:
    cells = (
        element("td", "" if value is None else f"{value:.2f}", data_best=value == best)
        for value in values
    )
    return element("tr", element("th", str(width), scope="row"), *cells)


METHODS = {OURS: "Sequoia", SEQUENCES: "SpecInfer", "top-k": "Top-k match"}


def titled(texts: str, temperature: float | None) -> str:
    """The texts and the temperature, if there is one: "C4, T = 0.6"."""
    return texts if temperature is None else f"{texts}, T = {temperature:g}"


def times(value: float) -> str:
    """A speed-up: "4.04×"."""
    return f"{value:.2f}×"


def deviation(simulated: float, paper: float) -> float:
    """The relative deviation of a simulated number from the paper's: 0.1 if it is 10% higher."""
    return simulated / paper - 1


def spread(shares: Sequence[float]) -> str:
    """The smallest and the largest of some fractions: "−1.2% to +3.4%"."""
    return f"{signed(min(shares), 1)} to {signed(max(shares), 1)}"
