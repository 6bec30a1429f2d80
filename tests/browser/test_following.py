"""A visitor who waits in the queue follows another visitor's run until their own run starts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from run_form import endless_and_slow, enter, ready, store, until

FOLLOWED = "s.following.isFollowed && s.arrived.length > 0"


@pytest.mark.nightly
def test_a_waiting_visitor_may_follow_the_current_run_and_gets_their_own(
    visit: Callable[..., Page],
) -> None:
    first, second = visit(), visit()
    for page in (first, second):
        ready(page)
    endless_and_slow(first)
    enter(second, tokens=16)
    first.click("#pg-run")
    until(first, "s.meta.label === 'measured' && s.arrived.length > 0", 60)
    second.click("#pg-run")
    follow = second.locator("#pg-view [data-part=follow]")
    follow.click()
    until(second, FOLLOWED)
    banner = second.locator("#pg-view [data-part=followed]")
    wanted = "Someone else's run, read-only. Yours is shown as soon as it starts."
    expect(banner).to_have_text(wanted)
    expect(second.locator("#pg-view [data-part=notice]")).to_contain_text("1 run ahead of you")
    expect(follow).to_be_hidden()
    assert store(second, "s.name") == store(first, "s.name")

    first.click("#pg-stop")
    until(second, "s.done && s.meta.params.max_new_tokens === 16")
    expect(banner).to_be_hidden()
    expect(second.locator("#pg-run")).to_be_enabled()
