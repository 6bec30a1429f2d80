"""A real model in the page: it is loaded by its folder, a run is stopped and continued, saved, and
opened again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from run_form import enter, open_file, save, store, until
from running_app import App, Visit, models_ready, open_view
from test_models_page import comes, ended, names

from sequoia.saved_files.race_file import RaceLog

pytestmark = [pytest.mark.real, pytest.mark.nightly]

EMITTED = "s.arrived.map(({ emitted }) => emitted).flat()"


@pytest.fixture(scope="module")
def real_app() -> Iterator[App]:
    app = App()
    app.answer()
    yield app
    printed = app.stop()
    assert "Traceback" not in printed, printed


@pytest.fixture
def page(browser: Browser, real_app: App) -> Iterator[Page]:
    visit = Visit(browser, real_app.url)
    models_ready(visit.page)
    yield visit.page
    visit.check(real_app.url)


def test_a_real_model_is_loaded_run_stopped_saved_and_opened(
    page: Page, real_model: Path, real_draft: Path, tmp_path: Path
) -> None:
    comes(page)
    names(page, str(real_model), str(real_draft))
    page.click("#md-load")
    ended(page, "done", 300)
    page.keyboard.press("Escape")  # closes the drawer
    open_view(page, "Run")
    expect(page.locator("#pg-chat")).to_be_visible()
    enter(page, temperature=0, tokens=200)
    page.fill("#pg-prompt textarea", "Tell me a long story about a fox and a crow.")
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.arrived.length > 7", 120)
    page.click("#pg-stop")
    until(page, "s.done")
    tokens = store(page, EMITTED)
    assert 4 <= len(tokens) < 400
    file = save(page, tmp_path / "run.json")
    saved = RaceLog.from_json(file.read_text(encoding="utf-8"))
    steps = [saved.lanes[lane].run.steps[step] for lane, step in saved.in_order()]
    assert [token for step in steps for token in step.emitted] == tokens
    open_file(page, file)
    until(page, "s.meta.label === 'recorded' && s.done", 60)
    assert store(page, EMITTED) == tokens
