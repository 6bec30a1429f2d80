"""The Paper tab in a real browser: its claims open their tables and experiments, its figures are
drawn, and it fits on a phone."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect
from running_app import models_ready, open_view

CHOSEN = "#xp-view [data-name][aria-pressed=true]"


def test_a_claim_opens_its_tables_and_its_experiment(visit: Callable[..., Page]) -> None:
    page = visit(has_form=False, viewport={"width": 390, "height": 844})
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

    assert page.evaluate("document.documentElement.scrollWidth") <= 390

    page.get_by_text("6 more").click()
    page.get_by_text("Beats any SpecInfer tree").click()
    page.locator("#pp-view [data-address$=specinfer]").click()
    expect(page.locator(CHOSEN)).to_have_attribute("data-name", "specinfer")
    page.go_back()
    models_ready(page)
    page.locator("#pp-view [data-run=ranks]").click()
    expect(page.locator(CHOSEN)).to_have_attribute("data-name", "ranks")
    stop = page.locator("#xp-view [data-part=stop]:enabled")
    over = page.get_by_role("button", name="Run again")  # the experiment may be over at once
    expect(stop.or_(over)).to_be_visible(timeout=30_000)
    page.locator("#xp-view [data-part=stop]").dispatch_event("click")
    expect(stop).to_have_count(0, timeout=30_000)
