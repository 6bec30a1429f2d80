"""The Lossless tab in a real browser: a correct decoder passes, refused values stay in the form,
and a broken decoder is found and is called broken in the saved file."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect
from running_app import models_ready, open_view

DONE = "#ls-view [data-part^=measured] .ls-words[data-kind={}]"


def run(page: Page, kind: str) -> None:
    page.click("#ls-run")
    page.wait_for_selector(DONE.format(kind), timeout=60_000)
    page.wait_for_selector("#ls-run:not([disabled])", state="attached")


def test_a_press_on_a_bug_shows_it_beside_the_correct_decoder(visit: Callable[..., Page]) -> None:
    page = visit(has_form=False, viewport={"width": 1280, "height": 900})
    models_ready(page)
    open_view(page, "Lossless")
    expect(page.locator("#ls-view [data-part=recorded-draft-noise]")).to_be_visible()
    button = page.locator("#ls-view [data-bug=walk-u]")
    name = button.inner_text()
    button.click()
    broken = page.locator("#ls-view [data-part=measured-walk-u]")
    expect(broken.locator("h2")).to_have_text(f"Broken ({name})")
    expect(broken.locator(".ls-words")).to_have_attribute("data-kind", "differs", timeout=60_000)
    expect(page.locator("#ls-bug input")).to_have_value(name)
    expect(page.locator("#ls-view [data-part=recorded-correct]")).to_be_visible()


def test_a_visit_to_the_tab(visit: Callable[..., Page]) -> None:
    page = visit(has_form=False, viewport={"width": 390, "height": 844})
    models_ready(page)
    open_view(page, "Lossless")
    recorded = page.locator("#ls-view [data-part=recorded-correct]")
    expect(recorded).to_contain_text("recorded")  # before any test was run
    page.click("[data-act=panel]")  # in a narrow window the form is a drawer
    page.click("#ls-more > button")
    page.fill("#ls-samples input", "3000")
    run(page, "fits")
    correct = page.locator("#ls-view [data-part=measured-correct]")
    expect(correct).to_contain_text("No difference found in 3,000 samples")
    assert correct.locator("tbody tr").count() == 9
    expect(recorded).to_have_count(0)

    page.click("[data-act=panel]")
    page.fill("#ls-p input, #ls-p textarea", "0.1, 0.3, 0.7")
    page.click("#ls-more > button")
    page.focus("#ls-run")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ls-p.is-wrong")  # its field is unfolded
    assert "sum to 1.1 instead of 1" in page.inner_text("#ls-p")
    assert page.input_value("#ls-p input, #ls-p textarea") == "0.1, 0.3, 0.7"
    assert page.input_value("#ls-samples input") == "3000"

    page.click("#ls-bug input")
    page.get_by_role("option", name="last token ignores").click()
    page.wait_for_function(
        "document.querySelector('#ls-p :is(input, textarea)').value === '0.1, 0.3, 0.6'"
    )
    expect(page.locator("#ls-bug")).to_contain_text("instead of the residual distribution")
    assert page.locator("#ls-view [data-part=earlier]").is_visible()
    assert page.locator("#ls-p.is-wrong").count() == 0
    page.fill("#ls-samples input", "3000")
    run(page, "differs")
    broken = page.locator("#ls-view [data-part=measured-last-token]")
    expect(broken).to_contain_text("p-value below 0.000001")
    expect(broken).to_contain_text("Why it hides elsewhere")
    assert page.locator("#ls-view [data-part=earlier]").is_hidden()
    with page.expect_download() as saved:
        broken.locator("a[download]").click()
    assert saved.value.suggested_filename == "sequoia-lossless-broken-on-purpose-last-token.csv"
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == 10
    assert all("broken on purpose" in line for line in lines[1:])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
