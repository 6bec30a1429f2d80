"""The Lossless tab in a real browser: a correct decoder passes, refused values stay in the form,
and a broken decoder is found and is called broken in the saved file."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect
from running_app import open_view

DONE = "#ls-view .ls-verdict[data-kind={}]"


def run(page: Page, kind: str) -> None:
    page.click("#ls-run")
    page.wait_for_selector(DONE.format(kind), timeout=60_000)
    page.wait_for_selector("#ls-run:not([disabled])", state="attached")


def text(page: Page, part: str) -> str:
    return page.inner_text(f"#ls-view {part}")


def test_the_tab_opens_with_two_recorded_tests_in_aligned_rows(
    visit: Callable[..., Page],
) -> None:
    """Until a test is run, the tab shows two recorded tests side by side."""
    page = visit(has_form=False, viewport={"width": 1280, "height": 900})
    open_view(page, "Lossless")
    page.wait_for_selector("#ls-view [data-part=recorded-draft-noise]")
    assert page.inner_text("#ls-run") == text(page, "[data-part=run]") == "Run the test"
    tables = page.locator("#ls-view .ls-bars")
    assert tables.count() == 2
    heads = ["words", "share", "sampled", "exact"]
    assert tables.first.locator("thead th").all_inner_texts() == heads
    first = tables.first.locator("tbody tr").first
    assert first.locator(":is(th, td)").all_inner_texts() == ["c c", "", "35.8%", "36.0%"]
    tops = [
        [row.bounding_box()["y"] for row in table.locator("tr").all()]  # type: ignore[index]
        for table in tables.all()
    ]
    assert tops[0] == tops[1]
    assert tops[0][-1] - tops[0][-2] < 26
    page.click("[data-part=example-walk-u]")
    page.wait_for_selector("#ls-view [data-part=bug]")
    for name in page.locator("#ls-view .ls-acts [data-part^=example]").all_inner_texts():
        page.get_by_role("button", name=name).click()
        expect(page.locator("#ls-view [data-part=bug] h2")).to_contain_text(name)
        expect(page.locator("#ls-bug input")).to_have_value(name)
        assert "The setting in the form is now" in page.inner_text("#ls-view")


def test_a_visit_to_the_tab(visit: Callable[..., Page]) -> None:
    page = visit(has_form=False, viewport={"width": 390, "height": 844})
    page.wait_for_selector(".pg-status[data-stage=ready]", timeout=60_000)
    open_view(page, "Lossless")
    recorded = page.locator("#ls-view [data-part=recorded-correct]")
    expect(recorded).to_contain_text("recorded")  # before any test was run
    page.click("[data-act=panel]")  # in a narrow window the form is a drawer
    page.fill("#ls-samples input", "3000")
    run(page, "fits")
    assert "No difference found in 3,000 samples" in text(page, ".ls-verdict")
    assert page.locator("#ls-tables-view [data-part=cells] tbody tr").count() == 9
    assert text(page, "[data-part=decoder]") == ""
    expect(recorded).to_be_hidden()
    assert page.locator("#ls-view [data-part=example-walk-u]").is_visible()

    page.click("[data-act=panel]")
    page.fill("#ls-p input, #ls-p textarea", "0.1, 0.3, 0.7")
    page.focus("#ls-run")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ls-p.is-wrong")
    assert "sum to 1.1 instead of 1" in page.inner_text("#ls-p")
    assert page.input_value("#ls-p input, #ls-p textarea") == "0.1, 0.3, 0.7"
    assert page.input_value("#ls-samples input") == "3000"

    page.click("#ls-bug input")
    page.get_by_role("option", name="last token ignores").click()
    page.wait_for_function(
        "document.querySelector('#ls-p :is(input, textarea)').value === '0.2, 0.8'"
    )
    assert "Why it hides elsewhere" in text(page, "[data-part=bug]")
    assert page.locator("#ls-view [data-part=earlier]").is_visible()
    assert page.locator("#ls-p.is-wrong").count() == 0
    page.fill("#ls-samples input", "3000")
    run(page, "differs")
    assert text(page, "[data-part=decoder]").startswith("broken on purpose")
    assert "below 0.000001" in text(page, ".ls-tiles")
    assert page.locator("#ls-view [data-part=earlier]").is_hidden()
    with page.expect_download() as saved:
        page.click("#ls-tables-view [data-part=cells] a[download]")
    assert saved.value.suggested_filename == "sequoia-lossless-broken-on-purpose-last-token.csv"
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    assert all("broken on purpose" in line for line in lines[1:])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
