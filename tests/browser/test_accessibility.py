"""axe-core finds no violation of WCAG or of axe's own best practices in any view of the real page.
In dark colours only axe's rules about colours are checked. In Machine and Models, the Tab key stops
at few places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from run_form import open_more
from running_app import App, Visit, models_ready, open_view
from view_pages import AXE, COLOUR_RULES, needs_axe, settle, stop_transitions

LAST = {  # for each view, the element that appears last when it is opened
    "Film": "#fm-view .sq-n",
    "Run": "#pg-view .hw-chart[data-drawn=yes]",
    "Tour": ".sq-tour-stop",
    "Tree": "#lab-view .sq-lab-tree .sq-n",
    "Walk": ".sq-walk [data-part=caption]",
    "Lossless": "#ls-view .ls-words[data-kind=fits]",
    "Experiments": "#xp-view [data-name]",
    "Machine": "#hw-view .hw-chart[data-drawn=yes]",
    "Engines": "#en-view p",
    "Paper": "#pp-view .pp-claims",
    "Models": ".md-table tr[data-pair]",
}
MOST_STOPS = {"Machine": 40, "Models": 40}
STOPS = """() => [...(document.querySelector("#pg-models:popover-open") ?? document).querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex]")].filter(one =>
    one.tabIndex >= 0 && !one.disabled && one.getClientRects().length &&
    one.checkVisibility({ visibilityProperty: true })).length"""
ALL_RULES: dict[str, Any] = {}
# axe-core finds nothing in hidden tabs, but takes several times as long if they have content. So
# that content is taken out while it runs, except for the ids that visible elements refer to.
RUN_AXE = """async (rules) => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const visible = all("[aria-controls]").filter((one) => one.checkVisibility());
  const controlled = new Set(visible.map((one) => one.getAttribute("aria-controls")));
  const standIns = (panel) => all("[id]", panel).filter(({ id }) => controlled.has(id)).map(
    ({ id }) => Object.assign(document.createElement("i"), { id }));
  const hidden = all("[role=tabpanel]").filter((panel) => !panel.checkVisibility());
  const contents = hidden.map((panel) => [panel, ...panel.childNodes]);
  hidden.forEach((panel) => panel.replaceChildren(...standIns(panel)));
  try {
    return await axe.run(document, { resultTypes: ["violations"], ...rules });
  } finally {
    contents.forEach(([panel, ...nodes]) => panel.replaceChildren(...nodes));
  }
}"""

pytestmark = needs_axe


@pytest.fixture(scope="module")
def page(browser: Browser, app: App) -> Iterator[Page]:
    """The page in light colours, with the models ready and axe-core in it. Nothing moves."""
    visit = Visit(browser, f"{app.url}?__theme=light", reduced_motion="reduce")
    models_ready(visit.page)
    stop_transitions(visit.page)
    visit.page.evaluate(AXE.read_text(encoding="utf-8"))
    yield visit.page
    visit.check(app.url)


def comes(page: Page, view: str) -> None:
    """Open a view and wait until it shows everything."""
    page.keyboard.press("Escape")  # closes the drawer with the models
    open_view(page, view)
    if view == "Run":
        open_more(page)
        page.evaluate(
            "document.querySelectorAll('#pg-view details').forEach(one => one.open = true)"
        )
    if view == "Lossless":
        page.click("#ls-more > button")
        page.fill("#ls-samples input", "300")
        page.press("#ls-run", "Enter")  # a click would leave the button in its hover colour
    if view == "Machine":
        page.wait_for_function(
            "document.querySelectorAll('#hw-view .hw-chart[data-drawn=yes]').length >= 3",
            timeout=30_000,
        )
    page.wait_for_selector(LAST[view], timeout=30_000)
    settle(page)


def violations(page: Page, rules: dict[str, Any] = ALL_RULES) -> list[str]:
    """What axe-core finds wrong, as lines with rule, element and reason."""
    found: dict[str, Any] = page.evaluate(RUN_AXE, rules)
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def violations_in_dark_colours(page: Page) -> list[str]:
    page.evaluate("document.body.classList.add('dark')")
    settle(page)
    found = violations(page, COLOUR_RULES)
    page.evaluate("document.body.classList.remove('dark')")
    settle(page)
    return found


@pytest.mark.parametrize("view", LAST)
def test_axe_finds_nothing_wrong(page: Page, view: str) -> None:
    comes(page, view)
    assert violations(page) == []
    assert violations_in_dark_colours(page) == []


def test_axe_finds_what_is_wrong(page: Page) -> None:
    """Guards against rules that are not run."""
    page.evaluate(
        """document.body.append(
          Object.assign(new Image(), { id: "wrong-image", src: "data:," }),
          Object.assign(document.createElement("p"), { id: "wrong-text", textContent: "grey" }));
        Object.assign(document.getElementById("wrong-text").style,
          { color: "#777", background: "#888" });"""
    )
    found, in_dark_colours = (
        {line.split(":")[0] for line in lines if "#wrong-" in line}
        for lines in (violations(page), violations_in_dark_colours(page))
    )
    assert found == {"image-alt", "region", "color-contrast"}
    assert in_dark_colours == {"color-contrast"}
    page.evaluate("document.querySelectorAll('[id^=wrong-]').forEach((one) => one.remove())")


@pytest.mark.parametrize("view", MOST_STOPS)
def test_the_tab_key_stops_at_few_places(page: Page, view: str) -> None:
    comes(page, view)
    assert page.evaluate(STOPS) <= MOST_STOPS[view]


def test_axe_finds_nothing_wrong_in_presenter_mode(page: Page) -> None:
    comes(page, "Run")
    page.locator("#pg-view [data-part=view]").evaluate("(menu) => (menu.open = true)")
    page.click("#pg-view [data-part=present]")
    page.wait_for_selector(".sq-present")
    settle(page)
    assert violations(page) == []
    assert violations_in_dark_colours(page) == []
    page.keyboard.press("Escape")
