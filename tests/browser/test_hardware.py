"""The hardware view in a real browser: figures, what-if, measuring and stopping, saved profiles
after a reload, hostile files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from run_form import choose as choose_run
from run_form import enter, run, store
from running_app import models_ready, open_view

from sequoia import HardwareProfile

Visit = Callable[..., Page]
BOARD = "document.querySelector('#hw-view .sq-stage').view"
MARKUP = "<img src=x onerror=window.hit=1> ${window.hit=2} {{value}}"


@pytest.fixture
def opened(visit: Visit) -> Callable[..., Page]:
    """A function that opens the view and waits for the models and for three charts."""

    def show(query: str = "", **options: Any) -> Page:
        page = visit(query, **options)
        models_ready(page)
        comes(page)
        return page

    return show


def comes(page: Page) -> None:
    open_view(page, "Machine")
    page.wait_for_function(
        "document.querySelectorAll('.hw-chart[data-drawn=yes]').length >= 3", timeout=30_000
    )


def board(page: Page, what: str) -> Any:
    return page.evaluate(f"{BOARD}.{what}")


def choose(page: Page, menu: str, option: str) -> None:
    page.click(f"#hw-{menu} input")
    page.get_by_role("option", name=option).click()


def until(page: Page, true: str, seconds: float = 15) -> None:
    page.wait_for_function(
        f"(() => {{ const b = {BOARD}; return {true}; }})()", timeout=seconds * 1000
    )


def test_a_profile_is_looked_at_compared_and_measured_until_stop(
    opened: Callable[..., Page],
) -> None:
    page = opened()
    assert board(page, "view.profile.label") == "measured"
    assert page.locator("#hw-view [data-part=why]").inner_text() == board(page, "view.why")
    before = board(page, "view.plan.nodes")
    choose(page, "profile", "A100, Llama-2-7B with 68M, eager")
    until(page, "b.view.profile.label === 'simulated'")
    assert page.locator("#hw-view [data-part=label]").inner_text() == "simulated"
    assert board(page, "view.plan.nodes") > before
    choose(page, "against", "L40 offloading, Llama-3-70B with 8B")
    until(page, "b.verify.chart.node.data.filter(d => d.mode === 'lines+markers').length === 2")
    page.fill("#hw-nodes input", "99999")
    page.press("#hw-nodes input", "Enter")
    banner = page.locator("#hw-view [data-part=banner]")
    expect(banner).to_contain_text("99999 is not a whole number from 1 to 1024")

    kept = board(page, "view.file")
    page.click("#hw-measure")
    page.wait_for_function(
        "Number(document.querySelector('.hw-stage').dataset.share) >= 2", timeout=30_000
    )
    expect(page.locator("#hw-measure")).to_be_disabled()
    page.click("#hw-stop")
    expect(banner).to_contain_text("The previous profile is kept.")
    expect(page.locator("#hw-measure")).to_be_enabled()
    assert board(page, "view.file") == kept


def test_profiles_are_kept_over_a_reload_exported_and_removed(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    page = opened()
    page.fill("#hw-name input, #hw-name textarea", MARKUP)
    page.click("#hw-save")
    until(page, "b.view.profile.label === 'recorded'")
    assert page.locator("#hw-view .sq-about .sq-model-name").last.inner_text() == MARKUP
    with page.expect_download() as waiting:
        page.get_by_label("Export the profile as JSON").click()
    file = tmp_path / "profile.json"
    waiting.value.save_as(file)
    assert HardwareProfile.from_json(file.read_text()).source == "recorded"
    page.reload()
    models_ready(page)
    comes(page)
    choose(page, "profile", MARKUP[:20])
    until(page, "b.view.profile.label === 'recorded'")
    page.click("#hw-remove")
    until(page, "b.view.profile.label === 'measured'")
    spoiled = json.loads(file.read_text())
    spoiled["target_seconds"][0][1] = -1
    file.write_text(json.dumps(spoiled))
    with page.expect_file_chooser() as chooser:
        page.click("#hw-open")
    chooser.value.set_files(file)
    says = "target_seconds.0.1: -1; input should be greater than or equal to"
    page.locator("#hw-view [data-part=banner]").get_by_text(says).wait_for(timeout=20_000)
    assert board(page, "view.profile.label") == "measured"
    assert page.evaluate("window.hit") is None


def test_a_profile_made_with_the_form_can_time_a_run(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_text("Make your own profile").click()
    page.fill("#hw-own-name input", "my card")
    page.fill("#hw-own-device-tflops input", "0")
    page.click("#hw-make")
    wrong = page.locator("#hw-own-device-tflops")
    expect(wrong).to_contain_text("Peak compute: 0; ")
    expect(wrong.locator("input")).to_be_focused()
    assert page.input_value("#hw-own-name input") == "my card"
    page.fill("#hw-own-device-tflops input", "165")
    page.click("#hw-make")
    until(page, "b.view.profile.name === 'my card' && b.view.profile.label === 'simulated'")
    expect(wrong).not_to_contain_text("is not a number")
    page.reload()
    models_ready(page)
    open_view(page, "Run")
    choose_run(page, "clock", "as on “my card” (simulated)")
    enter(page, tokens=16)
    run(page)
    assert store(page, "s.meta.clock") == "my card"
    open_view(page, "Tree")
    page.wait_for_function("document.querySelector('[data-part=clock]')?.value === 'kept:my card'")
