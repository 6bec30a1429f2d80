"""What the page opens with: a recorded run in slow motion, beside the large model alone, which is
slower."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from run_form import open_more
from running_app import App, Visit

STORE = "document.querySelector('#fm-view .sq-stage').view.store"
# the sum of all layout shifts that no visitor caused, as browsers define it
WATCH = """
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) window.shift += one.value;
  }).observe({ type: "layout-shift", buffered: true });
"""


def store(page: Page, what: str) -> object:
    return page.evaluate(f"{STORE}.{what}")


@pytest.fixture
def page(visit: Callable[..., Visit]) -> Page:
    return visit(has_form=False)


@pytest.fixture(scope="module")
def seen(browser: Browser, app: App) -> Iterator[Page]:
    """One page, shared by the tests that choose their own place in the run and do not use the
    form."""
    visit = Visit(browser, app.url, has_form=False)
    yield visit.page
    visit.check(app.url)


BAND = ".run-band"


def test_the_result_is_seen_before_any_script_has_run(seen: Page, browser: Browser) -> None:
    """It is the film's own. If it is not, run first_frame.py."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(seen.url)
    band = page.locator(f"#first-frame {BAND}")
    expect(band).to_be_visible()
    assert band.inner_text() == seen.locator(f"#fm-view {BAND}").inner_text()
    context.close()
    expect(seen.locator("#first-frame")).to_have_count(0)


def test_a_link_to_another_view_does_not_show_the_film_first(browser: Browser, app: App) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.route("**/assets/*.js", lambda route: route.abort())
    page.goto(app.url + "#run")
    expect(page.locator("#first-frame")).to_have_count(0)
    context.close()


def test_on_a_phone_the_tree_comes_before_the_texts_and_nothing_jumps(
    browser: Browser, app: App
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(app.url)
    page.wait_for_function(f"{STORE.replace('.view.', '?.view?.')}?.isWhole", timeout=60_000)
    tree, texts = (
        page.locator(f"#fm-view {part}").bounding_box()["y"] for part in (".sq-tree", ".run-lanes")
    )
    assert tree < texts
    assert tree < 650
    assert page.evaluate("window.shift") < 0.1
    context.close()


def test_the_verdict_says_how_typical_it_is_and_has_little_beside_it(seen: Page) -> None:
    seen.evaluate(f"{STORE}.seek(1e6)")
    verdict = store(seen, "verdict.speedups[0]")
    assert verdict["low"] > 1
    headline = seen.locator("#fm-view [data-part=headline]")
    ratio, words = headline.inner_text().split("×")
    assert float(ratio) == pytest.approx(verdict["ratio"], abs=0.05)
    assert words.strip() == "faster"
    claim = "than the large model alone, and the same text"
    expect(seen.locator("#fm-view [data-part=claim]")).to_have_text(claim)
    typical = seen.locator("#fm-view [data-part=typical]")
    expect(typical).to_contain_text("at temperature 0. Over 24 prompts, the median")
    for hidden in ("place", "figures", "present", "analysis", "bars"):
        expect(seen.locator(f"#fm-view [data-part={hidden}]").first).to_be_hidden()


def test_both_lanes_write_the_same_text_and_the_tree_is_ahead(seen: Page) -> None:
    seen.evaluate(f"{STORE}.seek(10)")
    flows = seen.locator("#fm-view [data-part=flow]").all_inner_texts()
    tree, alone = (text.replace("⏎", "").split() for text in flows)
    assert tree[: len(alone) - 1] == alone[:-1]
    assert len(tree) > len(alone)


def test_it_opens_at_the_first_step_in_slow_motion_and_ends_at_its_best_step(page: Page) -> None:
    page.wait_for_function(f"{STORE}.slow.shown?.phase === 'check'", timeout=15_000)
    assert store(page, "rate") == "slow"
    assert store(page, "at") == 0
    ends = page.locator("#fm-view .sq-prompt").evaluate_all(
        """prompts => prompts.map((prompt) => {
          const [box, last] = [prompt.parentElement, [...prompt.getClientRects()].at(-1)];
          return box.getBoundingClientRect().bottom - last.bottom; })"""
    )
    assert len(ends) == 2
    assert all(end >= 0 for end in ends), "the end of the prompt is not in view"
    assert page.locator(".sq-n[data-s=checked]").count() > 1
    expect(page.locator("[data-part=caption]")).to_contain_text("in one pass")
    page.evaluate(f"{STORE}.chooseRate('s20')")
    page.wait_for_function(f"{STORE}.isWhole", timeout=20_000)
    expect(page.locator("[data-part=caption]")).to_contain_text("tokens from one step")


def test_run_it_yourself_opens_the_form_with_the_settings_of_the_recording(page: Page) -> None:
    prompt = str(store(page, "meta.prompt"))
    page.click("[data-part=own]")
    expect(page.locator("#pg-prompt textarea")).to_have_value(prompt)
    expect(page.locator("[data-act=panel]")).to_have_attribute("aria-expanded", "true")
    open_more(page)
    expect(page.locator("#pg-temperature input")).to_have_value("0")
