"""The Experiments tab in a real browser: a recorded or missing result, a run that is stopped and
later continued, saved files, and a switch to another experiment and back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from running_app import models_ready, open_view

from sequoia.experiments.registry import EXPERIMENTS

VIEW = "document.querySelector('#xp-view .sq-stage').view.state"


Part = Callable[[str], Locator]


@pytest.fixture
def page(visit: Callable[..., Page]) -> Page:
    """The tab on a phone."""
    page = visit(has_form=False, viewport={"width": 390, "height": 844})
    open_view(page, "Experiments")
    return page


@pytest.fixture
def part(page: Page) -> Part:
    return lambda name: page.locator(f"#xp-view [data-part={name}]")


def test_a_recorded_result_is_shown_if_there_is_one(page: Page, part: Part) -> None:
    entries = page.locator("#xp-view [data-name]")
    expect(entries).to_have_count(len(EXPERIMENTS))
    expect(part("head")).to_contain_text(next(iter(EXPERIMENTS.values())).question)

    # a panel that has nothing to show is hidden
    page.wait_for_function(f"{VIEW}.recorded.size > 0")
    is_shown = page.evaluate(f"{VIEW}.result !== undefined")
    expect(part("figure")).to_be_visible(visible=is_shown)
    expect(part("missing")).to_be_visible(visible=not is_shown)
    expect(page.locator("#xp-view [data-part=table]")).to_be_visible(visible=is_shown)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.nightly
def test_a_small_run_is_stopped_and_continued(page: Page, part: Part) -> None:
    # stop the run after its first unit
    models_ready(page)
    page.locator("#xp-view [data-name=temperature]").click()
    expect(part("question")).to_have_text(EXPERIMENTS["temperature"].question)
    part("run").click()
    # the page itself clicks: a click by the test could arrive after the end of the run
    stop = "document.querySelector('#xp-view [data-part=stop]').click()"
    page.wait_for_function(
        f"{VIEW}.own.get('temperature')?.done >= 1 && ({stop}, true)", timeout=60_000
    )
    expect(part("banner")).to_contain_text("parts are done", timeout=30_000)
    expect(part("source")).to_have_text("measured")
    expect(part("partial")).to_contain_text("Partial result: ")
    page.wait_for_selector("#xp-view .hw-chart[data-drawn=yes]")

    # Continue finishes the run
    expect(part("run")).to_have_text("Continue")
    part("run").click()
    expect(part("run")).to_have_text("Run again", timeout=60_000)
    expect(part("partial")).to_be_hidden()
    with page.expect_download() as saved:
        part("tables").get_by_text("Points as CSV").click()
    assert saved.value.suggested_filename == "sequoia-temperature.csv"
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("experiment,panel,series,")
    assert page.locator("#xp-view [data-part=figure] [tabindex='0']").count() == 1
    with page.expect_download() as saved:
        page.locator("#xp-view [data-part=figure] [data-save=svg]").click()
    assert saved.value.suggested_filename == "sequoia-temperature.svg"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

    # opening another experiment does not change the result of this one
    page.locator("#xp-view [data-name]").first.click()
    expect(part("run")).to_have_text("Run it small")
    page.locator("#xp-view [data-name=temperature]").click()
    expect(part("run")).to_have_text("Run again")
