"""The Run view of the running app with the bundled pair of models, driven by a real browser: what a
visitor sees, presses and types. A run has one to four lanes, each a way to decode the prompt."""

from __future__ import annotations

import itertools
import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from run_form import (
    STAGE,
    choose,
    choose_lanes,
    endless,
    enter,
    numbers,
    open_file,
    open_more,
    ready,
    save,
    store,
    until,
)
from running_app import App, open_view
from view_pages import settle

from sequoia.saved_files.race_file import RaceLog

Visit = Callable[..., Page]
STOPS = """[...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex]")].filter(one =>
    one.tabIndex >= 0 && !one.disabled && one.role !== "tab" &&
    one.checkVisibility({ visibilityProperty: true })).length"""
TOKENS = "s.lanes.map(({ steps }) => steps.flatMap(({ emitted }) => emitted))"


def log_in(file: Path) -> RaceLog:
    return RaceLog.from_json(file.read_text(encoding="utf-8"))


def tokens_in(log: RaceLog) -> list[list[int]]:
    return [[token for step in lane.run.steps for token in step.emitted] for lane in log.lanes]


# -- the page --------------------------------------------------------------------------------------


def test_the_first_tab_stop_skips_to_the_run_and_there_are_few_stops(visit: Visit) -> None:
    page = visit()
    ready(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the run"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('#pg-view .sq-stage')")
    assert page.evaluate(STOPS) <= 40
    open_more(page)
    page.click("#pg-temperature input")
    card = page.locator(".sq-explains")
    expect(card).to_be_hidden()  # after a click the card would be in the way
    page.keyboard.press("Tab")
    expect(card).to_contain_text("most probable tokens")


def test_in_a_narrow_window_the_form_is_a_drawer_over_the_result(visit: Visit) -> None:
    width = 390
    page = visit(viewport={"width": width, "height": 800}, has_form=False)
    open_view(page, "Run")
    form = page.locator("#pg-side")
    main = page.locator("#pg-main")
    button = page.locator("[data-act=panel]")
    expect(main).to_be_visible()
    expect(form).to_be_hidden()
    expect(button).to_have_attribute("aria-expanded", "false")
    assert main.bounding_box()["width"] > 0.95 * width
    button.click()
    expect(form).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    assert form.bounding_box()["width"] <= 0.9 * width
    open_more(page)
    assert form.evaluate("form => form.scrollWidth <= form.clientWidth")
    assert form.evaluate("form => form.scrollHeight > form.clientHeight")  # it scrolls down
    form.locator("[role=combobox]").first.focus()
    page.keyboard.press("Tab")  # closes the menu
    page.wait_for_timeout(200)
    expect(form).to_be_visible()
    form.locator("[role=combobox]").first.click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    expect(form).to_be_visible()
    page.keyboard.press("Escape")
    expect(form).to_be_hidden()
    button.click()
    page.mouse.click(width - 4, 500)
    expect(form).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_form_and_result_are_beside_each_other_in_both_themes(visit: Visit) -> None:
    width, height = 1280, 800
    page = visit("?__theme=light")
    until(page, "s.arrived.length > 5")
    assert not page.evaluate("document.body.classList.contains('dark')")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    side = page.locator("#pg-side").bounding_box()
    stage = page.locator("#pg-view .sq-stage").bounding_box()
    assert side["x"] + side["width"] <= stage["x"] + 3
    assert stage["width"] > width * 0.7
    track = page.locator("#pg-view [data-part=track]").bounding_box()
    assert track["y"] + track["height"] < height
    page.click("[data-act=panel]")
    assert not page.locator("#pg-side").is_visible()
    assert page.locator("#pg-view .sq-stage").bounding_box()["width"] > width * 0.95
    page.click("[data-act=theme]")
    assert page.evaluate("document.body.classList.contains('dark')")


def test_endpoints_cannot_be_called_directly(app: App) -> None:
    """By default, Gradio also accepts calls that bypass the queue."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    config = json.loads(opener.open(f"{app.url}config", timeout=30).read())
    known = [one["api_name"] for one in config["dependencies"]]
    for name, way in itertools.product(("run", "step", "open", "example", "watch"), ("run", "api")):
        assert f"run_{name}" in known
        body = json.dumps({"data": []}).encode()
        request = urllib.request.Request(
            f"{app.url}gradio_api/{way}/run_{name}", body, {"Content-Type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            opener.open(request, timeout=30)
        assert caught.value.code == 404


# -- runs ------------------------------------------------------------------------------------------


def test_a_run_is_checked_saved_opened_and_shown_again_after_a_reload(
    visit: Visit, tmp_path: Path
) -> None:
    page = visit()
    ready(page)
    assert store(page, "s.meta.label") == "recorded"
    assert "measured" not in page.locator("#pg-view").inner_text()
    choose_lanes(page, "Chain", "Plain")
    enter(page, tokens=24, temperature=0.6)
    page.check("#pg-check input")  # off by default
    page.click("#pg-prompt textarea")
    page.keyboard.press("Control+Enter")
    until(page, "s.meta.label === 'measured' && s.done && s.notice?.startsWith('Checking')", 60)
    assert store(page, "s.lanes.map(({ title }) => title)") == ["Chain", "Plain"]
    expect(page.locator("#pg-view [data-part=verdict]")).to_contain_text("the large model alone")
    page.click("#pg-stop")  # ends the check of losslessness, which would take a while
    expect(page.locator("#pg-run")).to_be_enabled()
    expect(page.locator("#pg-run")).to_have_text("Run")
    text = page.locator("#pg-view").inner_text()
    assert "Measured on" in text
    assert "recorded" not in text
    tokens = store(page, TOKENS)
    assert [*map(len, tokens)] == [24, 24]
    file = save(page, tmp_path / "run.json")
    assert tokens_in(log_in(file)) == tokens

    name = store(page, "s.name")
    assert f"run={name}" in page.url
    page.reload()
    until(page, "s.arrived.length > 0")
    assert store(page, f"[s.name, {TOKENS}]") == [name, tokens]
    open_more(page)
    open_file(page, file)
    until(page, "s.meta.label === 'recorded' && s.done")
    assert store(page, TOKENS) == tokens
    opened = store(page, "s.name")
    assert f"run={opened}" in page.url  # so that a reload shows the opened file
    file.write_text(file.read_text(encoding="utf-8")[:-7], encoding="utf-8")
    open_file(page, file)
    page.locator("#pg-view").get_by_text("Not opened").first.wait_for(timeout=20_000)
    assert store(page, f"[s.name, {TOKENS}]") == [opened, tokens]


def test_a_run_is_stepped_stopped_resumed_and_started_over(visit: Visit) -> None:
    """Then one lane alone: nothing is said about a winner."""
    page = visit()
    ready(page)
    choose_lanes(page, "Chain", "Plain")
    endless(page, tokens=1000)
    run, stop = page.locator("#pg-run"), page.locator("#pg-stop")
    for rounds in (1, 2):
        page.click("#pg-step")
        made = f"s.lanes.every(({{ steps }}) => steps.length >= {rounds})"
        until(page, f"s.reason === 'paused' && {made}")
        expect(run).to_have_text("Resume")
    name = store(page, "s.name")
    run.click()
    until(page, "!s.done && s.lanes[0].steps.length > 5")
    stop.click()
    until(page, "s.done && s.stopped")
    expect(stop).to_have_text("Start over")
    count = store(page, "s.arrived.length")
    page.wait_for_timeout(400)
    assert store(page, "s.arrived.length") == count
    page.keyboard.press("Escape")  # stops a run in progress, but does not discard a paused one
    expect(stop).to_be_enabled()
    run.click()
    until(page, "s.done && !s.stopped && s.verdict", 60)
    assert store(page, "s.name") == name
    expect(run).to_have_text("Run")
    page.click("#pg-step")
    until(page, f"s.reason === 'paused' && s.name !== '{name}'")
    expect(stop).to_have_text("Start over")
    stop.hover()
    assert "Discard the paused run" in page.get_attribute("#pg-stop", "title")
    stop.click()
    expect(run).to_have_text("Run")
    expect(stop).to_be_disabled()

    choose_lanes(page, "Chain")
    enter(page, tokens=16)
    run.click()
    until(page, "s.lanes.length === 1 && s.done && s.results[0]?.lossless")
    words = page.locator("#pg-view").inner_text()
    assert "tokens per step" in words
    assert not re.search("faster|slower|wins|1st", words)


def test_a_bad_value_is_named_and_the_run_on_screen_stays(visit: Visit) -> None:
    page = visit()
    ready(page)
    before = store(page, "s.name")
    error = page.locator("#pg-view [data-part=error]")
    for field, value, says in (
        ("temperature", "9", "Temperature: 9 is not a number from 0 to 5"),
        ("tokens", "2.5", "2.5"),
        ("temperature", "", "Temperature: enter a number"),
    ):
        enter(page, **{field: value})
        page.click("#pg-run")
        expect(error).to_contain_text(says)
        expect(page.get_by_test_id("toast-body")).to_have_count(0)
        assert store(page, "s.name") == before
        enter(page, temperature=0.6, tokens=16)
    page.fill("#pg-prompt textarea", "  ")
    page.click("#pg-run")
    expect(error).to_contain_text("the prompt is empty")
    choose_lanes(page, "Chain", "Plain", "k-ary")
    expect(page.locator("#pg-tree-picture-3")).to_contain_text("31 nodes on 5 levels")
    page.fill("#pg-prompt textarea", "def mean(")
    page.fill("#pg-second-prompt :is(input, textarea)", "Once upon a time")
    page.click("#pg-run")
    expect(error).to_contain_text("3 lanes on two prompts")
    assert store(page, "s.name") == before
    assert page.input_value("#pg-temperature input") == "0.6"


# -- recorded runs ---------------------------------------------------------------------------------

CUT = """[...document.querySelectorAll("#pg-view .sq-text-box")].flatMap(box => {
    const { top, bottom } = box.getBoundingClientRect();
    const notes = [...box.querySelectorAll(".sq-end, .sq-loops")].filter(one => one.textContent);
    return notes.filter(one => one.offsetParent && [...one.getClientRects()]
        .some(line => line.top < top || line.bottom > bottom)).map(one => one.textContent);
})"""


def test_an_example_is_shown_from_its_top_and_its_settings_can_be_copied(visit: Visit) -> None:
    page = visit()
    ready(page)
    open_more(page)
    page.locator("#pg-example").scroll_into_view_if_needed()
    assert page.evaluate("scrollY") > 0
    choose(page, "example", "A tree that is too large")
    until(page, "s.meta.label === 'recorded' && s.meta.title && s.done")
    page.wait_for_function("scrollY === 0")
    page.evaluate(f"{STAGE}.store.seekEnd()")
    settle(page)
    assert page.locator("#pg-view .sq-loops").first.is_visible()
    assert page.evaluate(CUT) == []
    page.click("#pg-view [data-part=take]")
    expect(page.locator("#pg-kind-1 input")).to_have_value("Sequoia, sized")
    expect(numbers(page, 1)).to_have_value(re.compile("^256"))
    page.click("#pg-preset-a100")
    expect(page.locator("#pg-kind-1 input")).to_have_value("Plain")
    expect(page.locator("#pg-clock input")).to_have_value(re.compile("A100.*simulated"))
    name = store(page, "s.name")
    open_view(page, "Tree")
    page.keyboard.press("Control+Enter")  # starts a run only in Run
    page.wait_for_timeout(300)
    assert store(page, "s.name") == name
