"""The Paper tab in a real browser. At the width of a phone its tables fit, its figure is drawn, and
its link goes to the paper; on a wide screen the figure is as wide as its panel."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from running_app import open_tab

from sequoia.planning.paper_results import paper_file, paper_tables


@pytest.mark.nightly
def test_the_tab_at_the_width_of_a_phone(visit: Callable[..., Page]) -> None:
    page = visit(has_form=False, viewport={"width": 390, "height": 844})
    open_tab(page, "Paper")
    page.wait_for_selector("#pp-view .hw-chart[data-drawn=yes]", timeout=30_000)
    assert page.locator("#pp-view .pp-table").count() == len(paper_tables())
    line = page.locator("#pp-view [data-part=a100] tbody tr").first
    assert line.locator("td").all_inner_texts()[:2] == ["5.08", "4.04×"]
    link = page.locator("#pp-view .pp-intro a")
    assert link.get_attribute("href") == paper_file()["paper"]["url"]
    points = (
        "document.querySelector('#pp-view .hw-chart').data.reduce((n, { x }) => n + x.length, 0)"
    )
    assert page.evaluate(points) == sum(
        len(row.results) for table in paper_tables() for row in table.rows
    )
    has_experiments = page.get_by_role("tab", name="Experiments", exact=True).count() > 0
    button = page.locator("#pp-view button[data-opens=Experiments]").last
    assert button.is_visible() is has_experiments
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    right = "(one) => one.getBoundingClientRect().right"
    too_wide = (
        "[...document.querySelectorAll('.pp-table')].some((one) => "
        f"({right})(one) > ({right})(one.parentElement) + 0.5)"
    )
    assert not page.evaluate(too_wide)
