"""The Engines view in a browser: a sample log is read, and its settings are shown."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect
from running_app import open_view


def test_a_sample_log_gives_the_settings_of_each_engine(visit: Callable[..., Page]) -> None:
    page = visit()
    open_view(page, "Engines")
    page.get_by_role("button", name="SGLang", exact=True).click()
    shown = page.locator("#en-view")
    expect(shown).to_contain_text("65.0%", timeout=15_000)
    expect(shown.locator("code", has_text="--speculative-eagle-topk")).to_be_visible()
    page.fill("#en-log textarea", "nothing of the kind")
    page.click("#en-read")
    expect(shown.get_by_role("alert")).to_contain_text("Not read", timeout=15_000)
