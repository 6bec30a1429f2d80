"""Every tab of the real page, in both themes, keeps the rules of axe-core: the WCAG ones and its best
practices. Few enough tab stops lie between a person with a keyboard and the end of a tab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from running_app import ROOT, App, Visit

AXE = ROOT / ".ci" / "node_modules" / "axe-core" / "axe.min.js"
TABS = ("Decode", "Tour", "Race", "Lab", "Walk", "Lossless", "Hardware", "Paper", "Models")
MOST_STOPS = {"Hardware": 40, "Models": 40}
STOPS = """() => [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex]")].filter(one =>
    one.tabIndex >= 0 && !one.disabled && one.getClientRects().length &&
    one.checkVisibility({ visibilityProperty: true })).length"""

pytestmark = pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not installed: npm --prefix .ci ci"
)


@pytest.fixture(scope="module", params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: Browser, app: App) -> Iterator[Page]:
    """The page in a theme, with the models ready and axe-core in it."""
    visit = Visit(browser, f"{app.url}?__theme={request.param}")
    visit.page.wait_for_selector(".pg-status[data-stage=ready]", timeout=60_000)
    visit.page.evaluate(AXE.read_text(encoding="utf-8"))
    yield visit.page
    visit.check(app.url)


def comes(page: Page, tab: str) -> None:
    """Open a tab and wait until it is at rest."""
    page.get_by_role("tab", name=tab, exact=True).click()
    if tab == "Hardware":
        page.wait_for_function(
            "document.querySelectorAll('.hw-chart[data-drawn=yes]').length >= 3", timeout=30_000
        )
    if tab == "Lossless":
        page.fill("#ls-samples input", "300")
        page.press("#ls-run", "Enter")  # a pointer would leave it in another colour
        page.wait_for_selector("#ls-view .ls-verdict[data-kind=fits]", timeout=30_000)
    page.wait_for_timeout(1500)  # what comes from the server, and transitions of colours


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong, a line each: rule, element and reason."""
    found: dict[str, Any] = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("tab", TABS)
def test_axe_finds_nothing_wrong(page: Page, tab: str) -> None:
    comes(page, tab)
    assert violations(page) == []


def test_axe_finds_what_is_wrong(page: Page) -> None:
    """Guards against rules that are not run."""
    page.evaluate(
        "document.body.append(Object.assign(new Image(), { id: 'wrong', src: 'data:,' }))"
    )
    found = [line for line in violations(page) if "#wrong" in line]
    assert {line.split(":")[0] for line in found} == {"image-alt", "region"}
    page.evaluate("document.getElementById('wrong').remove()")


@pytest.mark.parametrize("tab", MOST_STOPS)
def test_the_tab_key_stops_few_times(page: Page, tab: str) -> None:
    comes(page, tab)
    assert page.evaluate(STOPS) <= MOST_STOPS[tab]


def test_axe_finds_nothing_wrong_in_presenter_mode(page: Page) -> None:
    comes(page, "Decode")
    page.wait_for_function(
        "document.querySelector('#pg-view .sq-stage').view.store.steps.length > 0"
    )
    page.evaluate("document.querySelector('#pg-view .sq-stage').view.pause()")
    page.click("#pg-view [data-part=present]")
    page.wait_for_timeout(500)
    assert violations(page) == []
    page.keyboard.press("Escape")
