"""A run, a race and the Lab, each saved as an HTML file. Opened from disk with the network off,
each file works, requests nothing else, and passes the accessibility checks of axe-core."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from nightly_cases import nightly
from playwright.sync_api import Browser, Locator, Page, expect
from running_app import ROOT, open_view
from view_pages import COLOUR_RULES, all_hostile, settle, stop_transitions

from sequoia import Run
from ui.notebook import to_html

AXE = ROOT / ".ci" / "node_modules" / "axe-core" / "axe.min.js"
STAGE = "document.querySelector('.sq-stage').view"
SAVE = {
    "One decoder": lambda page: page.locator("#pg-html").click(),
    "Side by side": lambda page: page.locator("#rc-html").click(),
    "Tree": lambda page: save_lab(page.locator("#lab-view [data-part=lab-tree]")),
}


def save_lab(panel: Locator) -> None:
    panel.get_by_text("More").click()
    panel.locator("[data-part=export]").select_option("page")


READY = {
    "One decoder": "#pg-view .sq-headline-number",
    "Side by side": "#rc-view .race-lane",
    "Tree": "#lab-view [data-part=tile-tokens]",
}
DRAWN = {
    "One decoder": ".sq-tree-svg .sq-n",
    "Side by side": "[data-part=race-speedup] .js-line",
    "Tree": "[data-part=curves] .js-line",
}
Open = Callable[..., Page]
Saved = Callable[[str], Path]


@pytest.fixture(scope="module")
def saved(browser: Browser, app: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Saved]:
    """A function that gives the saved file of a tab: the recorded run, the recorded race, or the
    Lab."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{app.url}#run/one-decoder")
    page.wait_for_selector("#pg-view .sq-headline-number:visible")
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


def test_a_saved_run_says_the_same_as_the_app(
    saved: Saved, open_file: Open, visit: Callable[..., Page]
) -> None:
    end = (
        "view => { view.seek(1e6); return [view.store.totals(), "
        "...['speed-up', 'interval'].map(part => view.stage.root.querySelector("
        "`[data-part=${part}]`).textContent)]; }"
    )
    here = visit().evaluate(f"({end})(document.querySelector('#pg-view .sq-stage').view)")
    assert open_file(saved("One decoder")).evaluate(f"({end})({STAGE})") == here


def test_a_page_made_in_python_plays_the_run(open_file: Open, tmp_path: Path) -> None:
    run = Run.from_json((ROOT / "assets" / "runs" / "chain.json").read_text(encoding="utf-8"))
    (tmp_path / "run.html").write_text(to_html(run), encoding="utf-8")
    page = open_file(tmp_path / "run.html")
    assert page.evaluate(f"{STAGE}.store.steps.length") == len(run.steps)
    page.evaluate(f"{STAGE}.seek(1e6)")
    assert page.locator(".saved-head").inner_text().startswith("Sequoia: a recorded run")
    text = "".join(piece for step in run.steps for piece in step.text)
    assert text.split()[-1] in page.locator("[data-part=flow]").inner_text()


def test_a_saved_race_has_its_verdict_and_its_own_charts(saved: Saved, open_file: Open) -> None:
    page = open_file(saved("Side by side"))
    page.evaluate(f"{STAGE}.store.seekEnd()")
    expect(page.locator(".race-lane")).to_have_count(3)
    expect(page.locator("[data-part=headline-words]")).to_contain_text("Sequoia")
    for part in ("race-tokens", "race-speedup"):
        lines = page.locator(f"[data-part={part}] .scatterlayer .js-line")
        expect(lines.last).to_be_visible()
        assert lines.count() >= 3
    expect(page.locator("[data-part=tree] .sq-title")).to_contain_text("Sequoia")
    assert page.locator("[data-part=tree] .sq-tree-svg text").count() > 0
    expect(page.locator("[data-part=race-speedup] .hw-chart")).to_contain_text("decode time (s)")


@pytest.mark.nightly
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


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: npm --prefix .ci ci")
@pytest.mark.parametrize("tab", ["One decoder", *nightly("Side by side", "Tree")])
def test_axe_finds_nothing_wrong(saved: Saved, open_file: Open, tab: str) -> None:
    page = open_file(saved(tab), 390, "dark")
    stop_transitions(page)
    if tab == "One decoder":
        page.evaluate(f"{STAGE}.seek(4)")
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
    text = saved("One decoder").read_text(encoding="utf-8")
    start = text.index('id="saved-data">') + len('id="saved-data">')
    damaged = tmp_path / "damaged.html"
    damaged.write_text(text[:start] + text[start + 400 :], encoding="utf-8")
    page = open_file(damaged)
    expect(page.get_by_role("alert")).to_contain_text("This file is damaged")


# -- unusual runs: hostile, simulated, large -------------------------------------------------------


def save_run(page: Page, message: dict[str, Any], path: Path) -> Path:
    """Show a run in the app, and save it."""
    page.evaluate(
        "text => document.querySelector('#pg-view .sq-stage').view.ingest(JSON.parse(text))",
        json.dumps({**message, "done": True}),
    )
    with page.expect_download() as download:
        SAVE["One decoder"](page)
    download.value.save_as(path)
    return path


def test_hostile_text_stays_text(
    visit: Callable[..., Page], open_file: Open, tmp_path: Path
) -> None:
    run = all_hostile()
    page = open_file(save_run(visit(), run, tmp_path / "hostile.html"))
    assert page.evaluate(f"Object.fromEntries({STAGE}.store.pieces)") == run["pieces"]
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0
    expect(page.locator("[data-part=badge]")).to_have_text("recorded")
