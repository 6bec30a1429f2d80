"""The tables of an experiment's result as markup: its rows, sometimes beside the paper's numbers;
its comparisons, with their 95% intervals; and how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from sequoia.planning.named_profiles import machine_name
from ui.shared import report
from ui.shared.markup import Markup, csv_link, element

View = Mapping[str, Any]  # a result as `Words.view` makes it
PAIRED = (
    "A ratio is that of two methods’ means over the same prompts: a hard prompt affects both, so "
    "its difficulty mostly cancels. A difference can be clear (its 95% interval excludes 1) "
    "although the error bars of the plots overlap."
)


def tables(view: View, note: str, title: str) -> Markup:
    """All that stands below the plots. note: what a reader has to know. title: what the numbers of
    the table are, if its columns do not say so."""
    return element(
        "div",
        _rows(view, title) if view["rows"] else None,
        _comparisons(view) if view["comparisons"] else None,
        report.folded(
            "made",
            "How it was made",
            "",
            *(element("p", line, class_="xp-note") for line in note.split("\n") if line),
            element("dl", *_facts(view), class_="sq-facts"),
        ),
        class_="sq-frame",
    )


def _scrolled(title: str, inner: Markup) -> Markup:
    return report.scrolled(title, inner, "xp-scroll sq-more-below")


# -- rows ------------------------------------------------------------------------------------------


def _rows(view: View, title: str) -> Markup:
    """The rows; those with the same first value are in one group."""
    columns, rows = view["columns"], view["rows"]
    kinds = {one["kind"] for one in columns} - {""}
    beside = ", beside the paper’s" if "paper" in kinds else ""
    texts = [_texts([row[one["name"]] for row in rows]) for one in columns]
    several = len(kinds) > 1
    heads = (
        f"{one['label']} ({one['kind']})" if several and one["kind"] else one["label"]
        for one in columns
    )
    groups = groupby(zip(*texts, strict=True), lambda line: line[0])
    lines = (line for _, some in groups for line in _group([*some]))
    title = (title or "Results") + beside
    tools = [*map(report.badge, () if several else kinds), *_files(view)]
    return report.panel("table", title, tools, _scrolled(title, report.table(heads, lines)))


def _group(lines: Sequence[tuple[str, ...]]) -> Iterator[Markup]:
    """Lines with the same first value, which is shown once."""
    head = element("th", lines[0][0], scope="rowgroup", rowspan=len(lines))
    for i, (_, *cells) in enumerate(lines):
        yield element("tr", None if i else head, *(element("td", one) for one in cells))


def _texts(values: Sequence[str | float | None]) -> list[str]:
    """The values of a column. If no number has more than one decimal, all are written in full;
    otherwise all are rounded."""
    numbers = [one for one in values if isinstance(one, int | float)]
    is_short = all(round(one, 1) == one for one in numbers)

    def text(value: str | float | None) -> str:
        if value is None or isinstance(value, str):
            return value or "–"
        if is_short:
            return f"{value:,g}"
        return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"

    return [*map(text, values)]


def _files(view: View) -> Iterator[Markup]:
    """Links to the table and to the points of the plots as CSV files. A heading also says where its
    numbers come from."""
    columns = view["columns"]
    heads = [f"{one['label']} ({one['kind']})" if one["kind"] else one["label"] for one in columns]
    rows = ([row[one["name"]] for one in columns] for row in view["rows"])
    yield csv_link(f"{view['name']}-table", [heads, *rows])
    heads = ["experiment", "panel", "series", view["x"]["name"], view["y"]["name"]]
    points = (
        (view["name"], one["panel"], one["name"], *point.values())
        for one in view["series"]
        for point in one["points"]
    )
    yield csv_link(view["name"], [(*heads, "low", "high", "prompts"), *points], "Points as CSV")


# -- comparisons -----------------------------------------------------------------------------------


def _comparisons(view: View) -> Markup:
    found = view["comparisons"]
    rows = ((one["text"], one["ratio"], one["low"], one["high"]) for one in found)
    link = csv_link(f"{view['name']}-ratios", [("comparison", "ratio", "low", "high"), *rows])
    heads = ("Comparison", "Ratio", "95% interval", "Verdict")
    table = report.table(heads, map(_comparison, found))
    note = element("p", PAIRED, class_="xp-note")
    title = "Comparisons"
    return report.panel("comparisons", title, [link], note, _scrolled(title, table))


def _comparison(one: View) -> Markup:
    low, high = one["low"], one["high"]
    interval = "–" if low is None else f"{low:.4g} to {high:.4g}"
    verdict = verdict_of(low, high)
    return report.row(one["text"], f"{one['ratio']:.2f}×", interval, verdict or "–")


def verdict_of(low: float | None, high: float | None) -> str:
    """Whether the first method of a comparison is higher or lower than the second. "equal": they
    are equal for every prompt. Empty for a ratio without an interval."""
    if low is None or high is None:
        return ""
    if low == high == 1:
        return "equal"
    if low > 1:
        return "higher"
    return "lower" if high < 1 else "no clear difference"


# -- how it was made -------------------------------------------------------------------------------


def _facts(view: View) -> Iterator[Markup]:
    command = f"python -m sequoia.experiments {view['name']}"
    full = f"{command} --size full --out assets/experiments --source recorded"
    facts = {
        "Large model": view["target"],
        "Small model": view["draft"],
        "Machine": view["machine"],
        "Date": view["date"],
        "Settings": "; ".join(_settings(view["settings"])),
        "Small, on the bundled pair": f"{command} --size small",
        "Full, to record it": full if view["target"] == "bundled target" else "",
    }
    for name, value in facts.items():
        if value:
            yield element("dt", name)
            yield element("dd", value)


_NAMES = {
    "kinds": "kinds of text",
    "prompts": "prompts of each kind",
    "tokens": "tokens per text",
    "top_ps": "top-p",
    "budgets": "nodes",
    "sizes": "nodes",
    "chain": "nodes of the chain",
    "widths": "sequences",
    "depths": "tokens per sequence",
    "ranks": "children",
    "every": "tokens between measured steps (Traversal, block verification)",
    "stride": "tokens between measured steps",
    "planning": "texts to plan with, and tokens of each",
    "profile": "speed-ups predicted for",
    "machines": "simulated machines",
    "conditions": "temperature, small model",
}


def _settings(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, value in settings.items():
        values = value if isinstance(value, list) else [value]
        named = map(machine_name, values) if name in ("profile", "machines") else map(_word, values)
        yield f"{_NAMES.get(name, name)}: {', '.join(named)}"


def _word(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
