"""The Paper tab in a real browser: its claims open their tables and experiments, its figures are
drawn, and it fits on a phone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from running_app import models_ready, open_view

from sequoia.planning.paper_results import paper_file, paper_tables

CHOSEN = "#xp-view [data-name][aria-pressed=true]"
DRAWN = "#pp-view [data-part=scale] .hw-chart[data-drawn=yes]"


def test_a_claim_opens_its_tables_and_its_experiment(visit: Callable[..., Page]) -> None:
    page = visit(has_form=False)
    open_view(page, "Paper")
    part = page.locator("#pp-view [data-part=a100]")
    page.get_by_text("Speed-up, 7B on A100").click()
    line = part.locator("tbody tr").first
    expect(line).to_be_hidden()
    page.locator("#pp-view [data-shows=a100]").first.click()
    expect(line).to_be_in_viewport()
    assert line.locator("td").all_inner_texts()[:2] == ["5.08", "4.04×"]
    with page.expect_download() as saved:
        part.locator("a[download]").click()
    assert saved.value.suggested_filename == "sequoia-a100.csv"
    assert "5.08,4.04" in saved.value.path().read_text(encoding="utf-8")

    page.get_by_text("7 more").click()
    page.get_by_text("Beats any SpecInfer tree").click()
    page.locator("#pp-view [data-address$=specinfer]").click()
    expect(page.locator(CHOSEN)).to_have_attribute("data-name", "specinfer")
    page.go_back()
    models_ready(page)
    page.locator("#pp-view [data-run=ranks]").click()
    expect(page.locator(CHOSEN)).to_have_attribute("data-name", "ranks")
    expect(page.locator("#xp-view [data-part=stop]")).to_be_enabled()
    page.locator("#xp-view [data-part=stop]").click()
    expect(page.locator("#xp-view [data-part=stop]")).to_be_disabled(timeout=30_000)


@pytest.mark.nightly
def test_the_tab_at_the_width_of_a_phone(visit: Callable[..., Page]) -> None:
    page = visit(has_form=False, viewport={"width": 390, "height": 844})
    open_view(page, "Paper")
    link = page.locator("#pp-view .pp-intro a")
    assert link.get_attribute("href") == paper_file()["paper"]["url"]
    page.evaluate("document.querySelectorAll('#pp-view details').forEach((one) => one.open = true)")
    page.wait_for_selector(DRAWN, timeout=30_000)
    page.wait_for_selector("#pp-view [data-part=simulated] .hw-chart[data-drawn=yes]")
    assert page.locator("#pp-view .pp-table").count() == len(paper_tables())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    right = "(one) => one.getBoundingClientRect().right"
    too_wide = (
        "[...document.querySelectorAll('.pp-table')].some((one) => "
        f"({right})(one) > ({right})(one.parentElement) + 0.5)"
    )
    assert not page.evaluate(too_wide)
