"""Parts of the views that the server writes: panels, badges and tables."""

from __future__ import annotations

from collections.abc import Iterable

from ui.shared.markup import Markup, element


def panel(part: str, title: str, tools: Iterable[Markup], *body: Markup | None) -> Markup:
    """A panel with `tools` beside its title. part: its name for style sheets and tests."""
    heading = element("h2", element("span", title), class_="sq-title")
    return element(
        "section",
        element("div", heading, element("div", *tools, class_="sq-tools"), class_="sq-panel-head"),
        element("div", *body, class_="sq-panel-body"),
        class_="sq-panel",
        data_part=part,
        aria_label=title,
    )


def folded(part: str, title: str, source: str, *body: Markup | None) -> Markup:
    """A panel that is closed at first. source: shown beside the title."""
    word = element("span", source, class_="sq-word sq-dim") if source else None
    return element(
        "details",
        element("summary", element("b", title), " ", word),
        element("div", *body, class_="sq-panel-body"),
        class_="sq-panel sq-folded",
        data_part=part,
    )


def badge(label: str) -> Markup:
    """Where numbers come from: "measured", "recorded", "simulated", "predicted" or "paper"."""
    return element("span", label, class_="sq-badge", data_label=label)


def term(word: str, key: str) -> Markup:
    """A word with a tooltip. key: in assets/tooltips.json."""
    return element("button", word, type="button", class_="sq-term", data_term=key)


def table(heads: Iterable[str], rows: Iterable[Markup], class_: str = "") -> Markup:
    """A table with a line of headings. Each of `rows` is a tr."""
    cells = (element("th", one, scope="col") for one in heads)
    head = element("thead", element("tr", *cells))
    return element("table", head, element("tbody", *rows), class_=f"sq-table {class_}")


def row(name: str, *cells: str) -> Markup:
    """A line of a table."""
    return element("tr", element("th", name, scope="row"), *(element("td", one) for one in cells))


def scrolled(label: str, inner: Markup, class_: str) -> Markup:
    """A box that scrolls. It can be focused, so that the arrow keys scroll it. label: of the panel
    around it, for screen readers."""
    look = {"class_": class_, "tabindex": "0", "role": "region"}
    return element("div", inner, **look, aria_label=f"{label}, scrolls")
