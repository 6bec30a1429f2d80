"""A run and the Lab, each saved as an HTML file. Opened from disk with the network off,
each file works, requests nothing else, and passes the accessibility checks of axe-core."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from run_form import choose, open_more, until
from running_app import ROOT, open_view
from view_pages import AXE, COLOUR_RULES, all_hostile, needs_axe, settle, stop_transitions

from sequoia.saved_files.race_file import RaceLog
from ui.notebook import to_html

STAGE = "document.querySelector('.sq-stage').view"


def save_run(page: Page) -> None:
    open_more(page)
    page.click("#pg-html")


def save_lab(page: Page) -> None:
    panel = page.locator("#lab-view [data-part=lab-tree]")
    panel.get_by_text("More").click()
    panel.locator("[data-part=export]").select_option("page")


SAVE = {"Run": save_run, "Tree": save_lab}


READY = {"Run": "#pg-view .run-lane", "Tree": "#lab-view [data-part=tile-tokens]"}
DRAWN = {"Run": ".sq-tree-svg .sq-n", "Tree": "[data-part=curves] .js-line"}
Open = Callable[..., Page]
Saved = Callable[[str], Path]


@pytest.fixture(scope="module")
def saved(browser: Browser, app: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Saved]:
    """A function that gives the saved file of a view: the recorded run with lanes on an A100, or the
    Lab."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{app.url}#run")
    until(page, "s.arrived.length")
    open_more(page)
    choose(page, "example", "As on an A100")
    until(page, "s.lanes.length === 3")
    folder = tmp_path_factory.mktemp("saved")

    @cache
    def file_of(tab: str) -> Path:
        open_view(page, tab)
        page.wait_for_selector(READY[tab])
        page.wait_for_timeout(1000)
        with page.expect_download() as download:
            SAVE[tab](page)
        download.value.save_as(folder / f"{tab}.html")
        return folder / f"{tab}.html"

    yield file_of
    page.close()


@pytest.fixture
def open_file(browser: Browser) -> Iterator[Open]:
    """Opens files without a network. At the end of the test, each page must have written nothing to
    the console and requested nothing but its own file."""
    opened: list[tuple[Page, Path, list[str]]] = []

    def open_it(path: Path, width: int = 1280, theme: str = "light") -> Page:
        size = {"width": width, "height": 800}
        context = browser.new_context(viewport=size, color_scheme=theme, offline=True)
        page = context.new_page()
        noted: list[str] = []
        page.on("console", lambda message: noted.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: noted.append(f"error: {error}"))
        page.on("request", lambda request: noted.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_function("document.querySelector('.sq-stage')?.childElementCount")
        opened.append((page, path, noted))
        return page

    yield open_it
    for page, path, noted in opened:
        asked = [one for one in noted if not one.startswith(("data:", "blob:"))]
        assert asked == [path.as_uri()]
        assert page.evaluate("window.pwned") is None
        page.context.close()


def test_a_page_made_in_python_plays_the_run(open_file: Open, tmp_path: Path) -> None:
    text = (ROOT / "assets" / "runs" / "chain.json").read_text(encoding="utf-8")
    run = next(lane.run for lane in RaceLog.from_json(text).lanes if not lane.plain)
    (tmp_path / "run.html").write_text(to_html(run), encoding="utf-8")
    page = open_file(tmp_path / "run.html")
    assert page.evaluate(f"{STAGE}.store.steps.length") == len(run.steps)
    page.evaluate(f"{STAGE}.seek(1e6)")
    assert page.locator(".saved-head").inner_text().startswith("Sequoia: a recorded run")
    text = "".join(piece for step in run.steps for piece in step.text)
    assert text.split()[-1] in page.locator("[data-part=flow]").inner_text()


def test_a_saved_run_has_its_verdict_and_its_own_charts(saved: Saved, open_file: Open) -> None:
    page = open_file(saved("Run"))
    page.evaluate(f"{STAGE}.store.seekEnd()")
    expect(page.locator(".run-lane")).to_have_count(3)
    expect(page.locator("[data-part=headline-words]")).to_contain_text("Sequoia")
    page.click("[data-part=analysis] > summary")
    for part in ("tokens-over-time", "speedup-so-far"):
        lines = page.locator(f"[data-part={part}] .scatterlayer .js-line")
        expect(lines.last).to_be_visible()
        assert lines.count() >= 3
    expect(page.locator("[data-part=tree] .sq-title")).to_contain_text("Sequoia")
    assert page.locator("[data-part=tree] .sq-tree-svg text").count() > 0
    expect(page.locator("[data-part=speedup-so-far] .hw-chart")).to_contain_text("decode time (s)")


def test_a_saved_lab_still_plans_trees(saved: Saved, open_file: Open) -> None:
    """The saved Lab still plans a new tree when the number of nodes changes."""
    page = open_file(saved("Tree"))
    tokens = page.locator("[data-part=tile-tokens] .sq-tile-value")
    before = tokens.inner_text()
    page.evaluate(f"{STAGE}.state.set({{ n: 128 }})")
    expect(tokens).not_to_have_text(before)
    expect(page.locator("[data-part=run]")).to_be_hidden()
    expect(page.locator("[data-part=curves] .hw-chart")).to_contain_text("tokens per step")
    expect(page.locator("[data-part=lab-tree]")).to_be_visible()


@needs_axe
@pytest.mark.parametrize("tab", ["Run", "Tree"])
def test_axe_finds_nothing_wrong(saved: Saved, open_file: Open, tab: str) -> None:
    page = open_file(saved(tab), 390, "dark")
    stop_transitions(page)
    if tab == "Run":
        page.evaluate(f"{STAGE}.seek(4)")
        page.click("[data-part=analysis] > summary")
    page.wait_for_selector(DRAWN[tab], state="attached")
    settle(page)
    assert page.evaluate("document.body.classList.contains('dark')")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for rules in ({}, COLOUR_RULES):
        options = {"resultTypes": ["violations"], **rules}
        found = page.evaluate("options => axe.run(document, options)", options)["violations"]
        assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found] == []
        page.evaluate("document.body.classList.toggle('dark')")  # the other theme
        settle(page)


def test_a_damaged_file_gives_a_message(saved: Saved, open_file: Open, tmp_path: Path) -> None:
    text = saved("Run").read_text(encoding="utf-8")
    start = text.index('id="saved-data">') + len('id="saved-data">')
    damaged = tmp_path / "damaged.html"
    damaged.write_text(text[:start] + text[start + 400 :], encoding="utf-8")
    page = open_file(damaged)
    expect(page.get_by_role("alert")).to_contain_text("This file is damaged")


# -- unusual runs: hostile, simulated, large -------------------------------------------------------


def test_hostile_text_stays_text(
    visit: Callable[..., Page], open_file: Open, tmp_path: Path
) -> None:
    run = all_hostile()
    here = visit()
    shown = "document.querySelector('#pg-view .sq-stage').view"
    here.evaluate(f"text => {shown}.ingest(JSON.parse(text))", json.dumps({**run, "done": True}))
    with here.expect_download() as download:
        save_run(here)
    download.value.save_as(tmp_path / "hostile.html")
    page = open_file(tmp_path / "hostile.html")
    assert page.evaluate(f"Object.fromEntries({STAGE}.store.pieces)") == run["pieces"]
    assert page.locator("script").count() == 3
    assert page.locator("img").count() == 0
    expect(page.locator("[data-part=badge]")).to_have_text("recorded")
