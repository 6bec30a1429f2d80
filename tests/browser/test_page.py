"""The running app with the bundled pair of models, driven by a real browser: what a visitor sees,
presses and types."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nightly_cases import nightly
from playwright.sync_api import Page, expect
from running_app import CALLED, App, open_tab
from view_pages import settle

from sequoia import Run

Visit = Callable[..., Page]
STORE = "document.querySelector('#pg-view .sq-stage').view?.store"


def store(page: Page, what: str) -> Any:
    return page.evaluate(f"{STORE}.{what}")


def until(page: Page, true: str, seconds: float = 20) -> None:
    """Wait until a condition on the store `s` holds, for instance "s.steps.length > 3"."""
    page.wait_for_function(
        f"(() => {{ const s = {STORE}; return s && ({true}); }})()", timeout=seconds * 1000
    )


def ready(page: Page) -> None:
    page.wait_for_selector(".pg-status[data-stage=ready]", timeout=40_000)
    until(page, "s.steps.length > 0")  # the recorded run has arrived


def enter(page: Page, **values: Any) -> None:
    """Type numbers into the form."""
    for name, value in values.items():
        page.fill(f"#pg-{name.replace('_', '-')} input", str(value))


def endless(page: Page, **values: Any) -> None:
    """Fill the form so that the run reaches its token limit on every machine. After a row of zeros,
    the most probable token is always another zero. The temperature is 0 because a sampled text may
    end after any token."""
    page.fill("#pg-prompt textarea", "0 " * 13 + "0")
    enter(page, temperature=0, **values)


def choose(page: Page, menu: str, option: str) -> None:
    page.click(f"#pg-{menu} input")
    page.get_by_role("option", name=option).click()


def open_file(page: Page, file: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.click("#pg-open")
    chooser.value.set_files(file)


def test_the_page_opens_on_a_recorded_run_while_the_models_load(
    browser: Any, app: App, visit: Visit
) -> None:
    """Prints the time from starting the app until the recorded run plays. The aim is at most 15
    seconds."""
    page = visit()
    until(page, "s.steps.length > 5 && s.at >= 1")
    print(f"\nrecorded run moving {time.monotonic() - app.started:.1f} s after the command")
    assert store(page, "meta.label") == "recorded"
    assert store(page, "playing") is True or store(page, "at") == store(page, "last")
    assert page.locator(".sq-stage").get_by_text("recorded").first.is_visible()


WATCH = """window.seen = [];
const look = () => {
  const visible = (part) => Boolean(
    document.querySelector(part)?.checkVisibility({ visibilityProperty: true }));
  const [card, run] = ["#pg-view [data-part=empty]", "#pg-view .sq-n"].map(visible);
  window.seen.push([performance.now(), card, run]);
  if (!run) requestAnimationFrame(look);
};
requestAnimationFrame(look);"""


@pytest.mark.nightly
def test_the_recorded_run_is_the_first_thing_seen(browser: Any, app: App, visit: Visit) -> None:
    """The card of an empty view is never shown before the recorded run."""
    ready(visit())  # so that loading the models does not slow down the next page
    page = browser.new_page()
    page.add_init_script(WATCH)
    page.goto(app.url)
    page.wait_for_selector("#pg-view .sq-n")
    seen = page.evaluate("window.seen")
    page.close()
    assert not any(card for _, card, _ in seen)
    print(f"\nrecorded run drawn {seen[-1][0] / 1000:.1f} s after the page was asked for")
    assert seen[-1][0] < 10_000  # 1.4 s on two idle cores


def test_the_first_tab_stop_skips_to_the_run_and_there_are_few_stops(visit: Visit) -> None:
    page = visit()
    ready(page)
    page.evaluate("document.querySelector('#pg-view .sq-stage').view.seek(4)")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the run"
    stops = 1
    while page.evaluate("document.activeElement !== document.body"):
        page.keyboard.press("Tab")
        stops += not page.evaluate("document.activeElement.role === 'tab'")
        assert stops < 100
    print(f"\n{stops - 1} tab stops")
    assert stops - 1 <= 40
    page.locator(".pg-skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('#pg-view .sq-stage')")


COVERED = """() => {
  const card = document.querySelector(".sq-explains").getBoundingClientRect();
  const fields = [...document.querySelectorAll("#pg-side input, #pg-side textarea")];
  return fields.filter((field) => field.checkVisibility()).some((field) => {
    const box = field.getBoundingClientRect();
    return box.right > card.left && box.left < card.right
      && box.bottom > card.top && box.top < card.bottom;
  });
}"""


@pytest.mark.nightly
def test_hints_cover_no_field_and_menus_close_behind_the_tab_key(visit: Visit) -> None:
    """When the Tab key moves the focus out of a field, that field's menu closes."""
    page = visit()
    ready(page)
    page.locator("#pg-tree input").focus()
    for label in ("Verifier", "Timed on", "Temperature", "Top-p"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.ariaLabel") == label
        assert page.locator(".sq-explains").is_visible()
        assert not page.evaluate(COVERED)
        open_menus = page.locator("[role=listbox]")
        expect(open_menus).to_have_count(1 if label in ("Verifier", "Timed on") else 0)


CUT = """() => {
  const boxes = [...document.querySelectorAll("#pg-side *, #pg-view *")];
  const found = boxes.filter((box) => box.childNodes.length && box.matches(":not(svg, svg *)")
    && box.checkVisibility() && !box.closest(".sq-asked-text, .sq-tree-scroll, .sq-spoken"));
  const cut = found.filter((box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1
    && ["hidden", "clip"].includes(getComputedStyle(box).overflowX));
  const words = found.filter((box) => [...box.childNodes].some(
    (node) => node.nodeType === 3 && node.textContent.trim()));
  const small = words.filter((box) => parseFloat(getComputedStyle(box).fontSize) < 12);
  return [...cut, ...small].map((box) => box.outerHTML.slice(0, 90));
}"""


@pytest.mark.nightly
def test_no_label_is_cut_or_tiny(visit: Visit) -> None:
    page = visit()
    until(page, "s.steps.length > 5")
    page.evaluate("document.querySelector('#pg-view .sq-stage').view.seek(4)")
    for width in (390, 1024, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)
        assert page.evaluate(CUT) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, *nightly(1024)])
def test_in_a_narrow_window_the_form_is_a_drawer_over_the_result(visit: Visit, width: int) -> None:
    page = visit(viewport={"width": width, "height": 800}, has_form=False)
    for tab, side in (("Decode", "pg"), ("Race", "rc"), ("Hardware", "hw")):
        open_tab(page, tab)
        the_form_is_a_drawer(page, width, side)


def the_form_is_a_drawer(page: Page, width: int, side: str) -> None:
    form = page.locator(f"#{side}-side")
    main = page.locator(f"#{side}-main")
    button = page.locator("[data-act=panel]")
    expect(main).to_be_visible()
    expect(form).to_be_hidden()
    expect(button).to_have_attribute("aria-expanded", "false")
    assert main.bounding_box()["width"] > 0.95 * width
    button.click()
    expect(form).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    assert form.bounding_box()["width"] <= 0.9 * width
    form.locator("[role=combobox]").first.focus()
    page.keyboard.press("Tab")  # closes the menu
    page.wait_for_timeout(200)
    expect(form).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")
    expect(form).to_be_hidden()
    button.click()
    page.mouse.click(width - 4, 500)
    expect(form).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.nightly
def test_starting_a_run_closes_the_drawer(visit: Visit) -> None:
    page = visit(viewport={"width": 390, "height": 800}, has_form=False)
    ready(page)
    page.click("[data-act=panel]")
    enter(page, tokens=8)
    page.click("#pg-run")
    expect(page.locator("#pg-side")).to_be_hidden()
    until(page, "s.meta.label === 'measured' && s.done", 45)


def test_a_run_streams_to_its_end(visit: Visit) -> None:
    page = visit()
    enter(page, tokens=48)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.steps.length > 1", 45)
    until(page, "s.done")
    assert store(page, "totals(s.last)".replace("s.last", f"{STORE}.last"))["tokens"] == 48
    assert store(page, "meta.plain_seconds") > 0
    assert store(page, "meta.verdict.label") == "measured"
    assert store(page, "gap") is None
    assert re.search(r"[?&]run=", page.url)
    expect(page.locator("#pg-run")).to_be_enabled()
    text = page.locator(".sq-stage").inner_text()
    assert "measured here" in text


@pytest.mark.nightly
def test_messages_are_few_and_steps_come_while_it_runs(visit: Visit) -> None:
    """Guards against a view that shows nothing before the end, and against one message per step."""
    page = visit()
    ready(page)
    page.evaluate(
        "() => { const s = document.querySelector('#pg-view .sq-stage').view.store; "
        "const take = s.take; window.batches = []; s.take = function (m, r) { "
        "window.batches.push((m.steps || []).length); return take.call(this, m, r); } }"
    )
    choose(page, "tree", "plain decoding")
    endless(page, tokens=200)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.steps.length === 200 && s.done", 40)
    batches = [size for size in page.evaluate("window.batches") if size]
    assert 3 < len(batches) < 150
    assert sum(batches) == 200
    assert store(page, "gap") is None


def test_stop_ends_a_run_at_once_and_step_continues_it(visit: Visit) -> None:
    page = visit()
    ready(page)
    endless(page, tokens=2000)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.steps.length > 3")
    expect(page.locator("#pg-stop")).to_be_enabled()
    page.click("#pg-stop")
    until(page, "s.done", 3)
    count = store(page, "steps.length")
    page.wait_for_timeout(400)
    assert store(page, "steps.length") == count
    expect(page.locator("#pg-step")).to_be_enabled()
    name = store(page, "run")
    page.click("#pg-step")
    until(page, f"s.steps.length === {count + 1}")
    assert store(page, "run") == name
    assert store(page, "meta.plain_seconds") is None


@pytest.mark.nightly
def test_a_run_by_keyboard_says_that_it_was_stopped(visit: Visit) -> None:
    """Presses Ctrl+Enter and Escape in the prompt, where they are used most. Checks that the end of
    the text says "stopped"."""
    page = visit()
    ready(page)
    endless(page, tokens=2000)
    page.click("#pg-prompt textarea")
    prompt = page.input_value("#pg-prompt textarea")
    page.keyboard.press("Control+Enter")
    until(page, "s.meta.label === 'measured' && s.steps.length > 3")
    page.keyboard.press("Escape")
    until(page, "s.done", 3)
    # the steps made so far are played at an easy pace first
    expect(page.locator("[data-part=end]")).to_have_text("stopped", timeout=30_000)
    assert page.locator("p.sq-spoken").text_content().startswith("Run stopped:")
    assert page.input_value("#pg-prompt textarea") == prompt
    page.hover("#pg-run")
    assert "Ctrl+Enter" in page.get_attribute("#pg-run", "title")
    expect(page.locator("#pg-step")).to_be_enabled()


@pytest.mark.nightly
def test_a_recorded_run_is_not_shown_as_a_run_of_the_form(visit: Visit) -> None:
    """Guards against a Resume button that continues a run no longer on screen. Also guards against
    showing a recorded run as if it used the prompt in the form."""
    page = visit()
    ready(page)
    asked = page.locator("[data-part=asked]")
    page.fill("#pg-prompt textarea", "x = 1")
    expect(asked).to_contain_text("This run used a different prompt")
    page.click("#pg-step")
    until(page, "s.meta.label === 'measured' && s.steps.length === 1")
    expect(page.locator("#pg-run")).to_have_text("Resume")
    expect(asked).not_to_contain_text("This run used a different prompt")
    page.click("#pg-example input")
    page.get_by_role("option", name="The opening run").click()
    until(page, "s.meta.label === 'recorded'")
    expect(page.locator("#pg-run")).to_have_text("Run")
    expect(asked).to_contain_text("This run used a different prompt")
    own = store(page, "meta.prompt")
    page.fill("#pg-prompt textarea", own)
    expect(asked).not_to_contain_text("This run used a different prompt")
    page.keyboard.press(" ")
    assert page.input_value("#pg-prompt textarea") == own + " "
    expect(asked).to_contain_text("This run used a different prompt")


@pytest.mark.nightly
def test_steps_one_by_one_then_the_rest(visit: Visit) -> None:
    page = visit()
    ready(page)
    enter(page, tokens=24)
    for n in (1, 2):
        expect(page.locator("#pg-step")).to_be_enabled()
        page.click("#pg-step")
        until(page, f"s.meta.label === 'measured' && s.steps.length === {n}")
    expect(page.locator("#pg-run")).to_have_text("Resume")
    enter(page, seed=5)
    expect(page.locator("#pg-run")).to_have_text("Run")
    enter(page, seed=0)
    page.click("#pg-run")
    until(page, "s.done && s.totals(s.last).tokens === 24")
    expect(page.locator("#pg-run")).to_have_text("Run")
    expect(page.locator("#pg-stop")).to_have_text("Stop")


@pytest.mark.nightly
def test_a_run_whose_settings_were_changed_meanwhile_is_not_resumed(visit: Visit) -> None:
    page = visit()
    ready(page)
    endless(page, tokens=2000)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.steps.length >= 3")
    enter(page, seed=5)
    page.click("#pg-stop")
    expect(page.locator("#pg-stop")).to_have_text("Start over")
    expect(page.locator("#pg-run")).to_have_text("Run")
    page.click("#pg-step")
    until(page, "s.meta.params.seed === 5 && s.steps.length === 1")
    expect(page.locator("#pg-run")).to_have_text("Resume")


@pytest.mark.nightly
def test_after_a_refused_press_the_button_says_run(visit: Visit) -> None:
    page = visit()
    ready(page)
    enter(page, tokens=24)
    page.click("#pg-step")
    until(page, "s.meta.label === 'measured' && s.steps.length === 1")
    expect(page.locator("#pg-run")).to_have_text("Resume")
    enter(page, top_p=2)
    page.click("#pg-run")
    expect(page.locator("#pg-view [data-part=error]")).to_be_visible(timeout=20_000)
    expect(page.locator("#pg-open")).to_be_enabled()  # no run is in progress
    expect(page.locator("#pg-run")).to_be_enabled()
    expect(page.locator("#pg-run")).to_have_text("Run")


@pytest.mark.nightly
def test_a_run_that_is_stepped_through_can_be_started_over(visit: Visit) -> None:
    page = visit()
    ready(page)
    enter(page, tokens=24)
    for n in (1, 2):
        page.click("#pg-step")
        until(page, f"s.meta.label === 'measured' && s.steps.length === {n}")
    over = page.locator("#pg-stop", has_text="Start over")
    over.hover()
    assert "Discard the paused run" in page.get_attribute("#pg-stop", "title")
    page.keyboard.press("Escape")  # stops a run in progress, but does not discard a paused one
    expect(over).to_be_enabled()
    over.click()
    expect(page.locator("#pg-run")).to_have_text("Run")
    expect(page.locator("#pg-stop")).to_be_disabled()
    page.click("#pg-step")
    until(page, "s.meta.label === 'measured' && s.steps.length === 1")


@pytest.mark.nightly
def test_the_settings_of_a_recorded_run_can_be_used(visit: Visit) -> None:
    page = visit()
    ready(page)
    page.fill("#pg-prompt textarea", "x = 1")
    page.fill("#pg-seed input", "9")
    page.click("[data-part=own]")
    expect(page.locator("#pg-prompt textarea")).to_have_value(store(page, "meta.prompt"))
    expect(page.locator("#pg-seed input")).to_have_value(str(store(page, "meta.params.seed")))
    expect(page.locator("[data-part=asked]")).not_to_contain_text(
        "This run used a different prompt"
    )
    page.click("#pg-step")
    until(page, "s.meta.label === 'measured' && s.steps.length === 1")
    expect(page.get_by_text("Copy to form")).to_be_hidden()


@pytest.mark.nightly
def test_the_menu_of_trees_says_what_the_chosen_one_is(visit: Visit) -> None:
    page = visit()
    ready(page)
    about = page.locator("#pg-tree")
    expect(about).to_contain_text("Planned for speed")
    page.click("#pg-tree input")
    page.get_by_role("option", name="k sequences").click()
    expect(about).to_contain_text("Several chains side by side, all starting at the root.")


def test_a_bad_value_is_named_and_the_run_on_screen_stays(visit: Visit) -> None:
    page = visit()
    until(page, "s.steps.length > 5")
    before = store(page, "steps.length")
    for field, value, says in (
        ("temperature", "9", "Temperature: 9 is not a number from 0 to 5"),
        ("tokens", "0", "Max tokens: 0 is not a whole number from 1 to 4096"),
        ("tokens", "2.5", "2.5"),
        ("temperature", "", "Temperature: enter a number"),
    ):
        enter(page, **{field: value})
        page.click("#pg-run")
        page.locator(".sq-stage").get_by_text(says).first.wait_for(timeout=20_000)
        expect(page.get_by_test_id("toast-body")).to_have_count(0)
        assert store(page, "steps.length") == before
        enter(page, temperature=0.6, tokens=16)
    page.fill("#pg-prompt textarea", "  ")
    page.click("#pg-run")
    page.locator(".sq-stage").get_by_text("the prompt is empty").first.wait_for(timeout=20_000)
    assert store(page, "steps.length") == before
    assert page.input_value("#pg-temperature input") == "0.6"


@pytest.mark.nightly
def test_an_error_is_shown_once_until_the_next_run(visit: Visit) -> None:
    """Guards against the same words in a pop-up and in the banner."""
    page = visit()
    ready(page)
    shown = page.locator("#pg-view [data-part=error]")
    for value in ("7", "8", "9"):
        enter(page, temperature=value)
        page.click("#pg-run")
        expect(shown).to_have_text(f"Not run: Temperature: {value} is not a number from 0 to 5")
        expect(page.get_by_test_id("toast-body")).to_have_count(0)
    page.click("#pg-temperature input")
    expect(shown).to_be_visible()
    enter(page, temperature="0.6", tokens=16)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.done")
    expect(shown).to_be_hidden()


@pytest.mark.nightly
def test_looking_into_a_menu_changes_nothing_that_was_typed(visit: Visit) -> None:
    page = visit()
    ready(page)
    asked: list[Any] = []
    page.on(
        "request",
        lambda request: CALLED.search(request.url) and asked.append(request.post_data_json["data"]),
    )
    choose(page, "tree", "SpecInfer tree: children by level")
    field = page.locator("#pg-branching input, #pg-branching textarea")
    expect(field).to_have_value("4, 2, 2, 1")
    page.wait_for_function("document.activeElement !== document.querySelector('#pg-tree input')")
    assert asked.count(["branching"]) == 1
    field.fill("3, 1")
    for leave in (
        lambda: page.keyboard.press("Tab"),
        lambda: page.click(".pg-status"),
        lambda: page.get_by_role("option", name="SpecInfer tree: children by level").click(),
    ):
        with page.expect_response(CALLED) as answer:
            page.click("#pg-tree input")
            leave()
        answer.value.finished()
        settle(page)
        expect(field).to_have_value("3, 1")
    page.click("#pg-tree input")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")  # a choice by keyboard counts too
    expect(field).to_be_hidden()


@pytest.mark.nightly
def test_markup_typed_by_a_visitor_stays_text(visit: Visit) -> None:
    page = visit()
    ready(page)
    page.fill(
        "#pg-prompt textarea", '<img src=x onerror="window.hit=1"> ${window.hit=2} {{value}}\n'
    )
    enter(page, tokens=8)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.done")
    choose(page, "tree", "SpecInfer tree: children by level")
    # wait for the server's answer to the choice: the answer also fills the field
    expect(page.locator("#pg-tree")).to_contain_text("which you enter by level")
    field = page.locator("#pg-branching input, #pg-branching textarea")
    expect(field).to_have_value("4, 2, 2, 1")
    field.fill("<img src=x onerror=window.hit=3>")
    settle(page)
    expect(field).to_have_value("<img src=x onerror=window.hit=3>")
    page.click("#pg-run")
    expect(page.locator("#pg-view [data-part=error]")).to_contain_text(
        "<img src=x onerror=window", timeout=20_000
    )
    assert page.evaluate("window.hit") is None


def test_save_open_and_a_spoiled_file(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    ready(page)
    enter(page, tokens=20)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.done")
    expect(page.locator("#pg-save")).to_be_enabled()
    tokens = store(page, "steps.map(x => x.emitted).flat()")
    with page.expect_download() as waiting:
        page.click("#pg-save")
    file = tmp_path / "run.json"
    waiting.value.save_as(file)
    saved = Run.from_json(file.read_text(encoding="utf-8"))
    assert [token for step in saved.steps for token in step.emitted] == tokens
    open_file(page, file)
    until(page, "s.meta.label === 'recorded' && s.done")
    assert store(page, "steps.map(x => x.emitted).flat()") == tokens
    assert f"run={store(page, 'run')}" in page.url  # so that a reload shows the opened file
    name = store(page, "run")
    file.write_text(file.read_text(encoding="utf-8")[:-7], encoding="utf-8")
    open_file(page, file)
    page.locator(".sq-stage").get_by_text("Not opened").first.wait_for(timeout=20_000)
    assert store(page, "run") == name
    assert store(page, "steps.map(x => x.emitted).flat()") == tokens


def test_a_reload_shows_the_run_again(visit: Visit) -> None:
    page = visit()
    ready(page)
    enter(page, tokens=20)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.done")
    # wait until the stream has ended: Gradio's own client complains if a reload cuts it off
    expect(page.locator("#pg-run")).to_be_enabled()
    tokens = store(page, "steps.map(x => x.emitted).flat()")
    name = store(page, "run")
    page.reload()
    page.wait_for_function(
        "document.querySelector('#pg-view .sq-stage')?.view?.store.steps.length > 0"
    )
    assert store(page, "run") == name
    assert store(page, "steps.map(x => x.emitted).flat()") == tokens


@pytest.mark.nightly
def test_a_closed_page_frees_the_models(visit: Visit) -> None:
    """The first visitor closes the page during a long run, without pressing Stop. The run of the
    second visitor, who was waiting, then begins."""
    first = visit()
    ready(first)
    choose(first, "tree", "plain decoding")
    endless(first, tokens=2000)
    first.click("#pg-run")
    until(first, "s.meta.label === 'measured' && s.steps.length > 2")
    second = visit()
    enter(second, tokens=16)
    second.click("#pg-run")
    second.locator(".sq-stage").get_by_text("1 run ahead of you").first.wait_for(timeout=20_000)
    first.close()
    closed = time.monotonic()
    until(second, "s.meta.label === 'measured' && s.steps.length > 0", 10)
    print(f"\nthe next run began {time.monotonic() - closed:.2f} s after the page was closed")
    until(second, "s.done", 10)


@pytest.mark.nightly
def test_scrubber_and_keyboard(visit: Visit) -> None:
    page = visit()
    until(page, "s.steps.length > 5")
    page.locator("body").press("Home")
    until(page, "s.at === 0 && !s.playing")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    until(page, "s.at === 2")
    page.keyboard.press("ArrowLeft")
    until(page, "s.at === 1")
    page.keyboard.press("End")
    until(page, "s.at === s.last")
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    until(page, "s.playing && s.at > 0")
    page.click("#pg-prompt textarea")
    at = page.evaluate(f"(() => {{ {STORE}.pause(); return {STORE}.at; }})()")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert store(page, "at") == at


@pytest.mark.nightly
def test_space_plays_after_a_click_on_a_button_and_run_keys_do_nothing_on_another_tab(
    visit: Visit,
) -> None:
    """Guards against a space bar that presses the last clicked button or tab again. Also guards
    against Ctrl+Enter starting a run in Decode while another tab is open."""
    page = visit()
    ready(page)
    page.evaluate("document.querySelector('#pg-view .sq-stage').view.seek(3)")
    for _ in range(2):
        page.click("[data-act=theme]")
    page.keyboard.press(" ")
    until(page, "s.playing")
    name = store(page, "run")
    page.get_by_role("tab", name="Lab").click()
    page.locator("#pg-view .sq-stage").wait_for(state="hidden")
    page.keyboard.press("Control+Enter")
    page.get_by_role("tab", name="Decode").click()
    page.locator("#pg-view .sq-stage").wait_for(state="visible")
    page.evaluate("document.querySelector('#pg-view .sq-stage').view.pause()")
    page.wait_for_timeout(300)
    assert store(page, "run") == name
    page.keyboard.press(" ")
    until(page, "s.playing")


@pytest.mark.nightly
def test_presets_and_shapes_fill_the_form(visit: Visit) -> None:
    page = visit()
    for chip in page.locator(".pg-chip").all():
        before = page.input_value("#pg-prompt textarea")
        chip.click()
        page.wait_for_timeout(60)
        if chip.inner_text() != "function":
            assert page.input_value("#pg-prompt textarea") != before
    assert page.locator("#pg-first").count() == 0 or not page.locator("#pg-first").is_visible()
    choose(page, "tree", "k-ary tree")
    expect(page.locator("#pg-first")).to_contain_text("Children per node")
    expect(page.locator("#pg-second")).to_contain_text("Levels")
    assert page.input_value("#pg-second input") == "5"


@pytest.mark.parametrize(("width", "dark"), [(1280, False), *nightly((1920, True))])
def test_light_dark_narrow_and_wide(visit: Visit, width: int, dark: bool) -> None:
    height = 800 if width == 1280 else 1080
    page = visit(
        f"?__theme={'dark' if dark else 'light'}", viewport={"width": width, "height": height}
    )
    until(page, "s.steps.length > 5")
    assert page.evaluate("document.body.classList.contains('dark')") is dark
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    tree = page.locator(".sq-stage svg").first.bounding_box()
    assert tree["y"] < height
    caption = page.locator("[data-part=caption]").bounding_box()
    assert caption["y"] + caption["height"] < height * 0.7
    side = page.locator("#pg-side").bounding_box()
    stage = page.locator(".sq-stage").bounding_box()
    assert side["x"] + side["width"] <= stage["x"] + 3
    assert stage["width"] > width * 0.7
    page.click("[data-act=panel]")
    assert not page.locator("#pg-side").is_visible()
    assert page.locator(".sq-stage").bounding_box()["width"] > width * 0.95
    page.click("[data-act=theme]")
    assert page.evaluate("document.body.classList.contains('dark')") is not dark


def test_endpoints_cannot_be_called_directly(app: App) -> None:
    """By default, Gradio also accepts calls that bypass the queue."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for name in ("decode_run", "decode_step", "decode_open", "decode_example", "decode_watch"):
        for way in ("run", "api"):
            body = json.dumps({"data": []}).encode()
            request = urllib.request.Request(
                f"{app.url}gradio_api/{way}/{name}", body, {"Content-Type": "application/json"}
            )
            with pytest.raises(urllib.error.HTTPError) as caught:
                opener.open(request, timeout=5)
            assert caught.value.code == 404


# -- simulated times -------------------------------------------------------------------------------

CARD = "A100, Llama-2-7B with 68M, eager, as in the paper"


@pytest.mark.nightly
def test_a_large_tree_wins_on_the_clock_of_an_a100(visit: Visit) -> None:
    page = visit()
    ready(page)
    choose(page, "tree", "Sequoia, planned for this machine")
    choose(page, "clock", CARD)
    enter(page, tokens=128, temperature=0)
    page.click("#pg-run")
    until(page, "s.meta.label === 'simulated' && s.done", 60)
    assert store(page, "meta.tree.nodes") > 32
    expect(page.locator("[data-part=speed-up]")).to_have_text(re.compile(r"^\d"))
    assert float(re.match(r"[\d.]+", page.inner_text("[data-part=speed-up]"))[0]) > 1
    expect(page.locator("[data-part=basis]")).to_contain_text(
        "Simulated: tokens and trees are real"
    )
    for badge in ("[data-part=simulated]", "[data-part=badge]"):
        expect(page.locator(f"#pg-view {badge}")).to_contain_text("simulated for an A100")
        expect(page.locator(f"#pg-view {badge}")).to_be_visible()
    assert "measured" not in page.locator("#pg-view .sq-stage").inner_text()
    check_file(page)
    check_picture(page)
    page.reload()
    page.wait_for_selector("#pg-view .sq-stage")
    until(page, "s.meta.label === 'simulated' && s.done", 60)


# -- the tree of the form --------------------------------------------------------------------------


@pytest.mark.nightly
def test_the_tree_in_the_form_is_drawn_while_the_visitor_types(visit: Callable[..., Page]) -> None:
    """The picture shows the tree described by the fields, in Decode and in a lane of a race. In
    Decode, an invalid field hides the picture."""
    page = visit()
    picture = page.locator("#decode-tree-picture .sq-form-tree")
    choose(page, "tree", "k-ary tree")
    expect(picture).to_contain_text("Next run: 31 nodes on 5 levels")
    enter(page, second=3)
    expect(picture).to_contain_text("7 nodes on 3 levels")
    assert picture.locator(".sq-thumbnail-dots").get_attribute("d").count("M") == 7
    enter(page, second=99)
    expect(picture).to_be_hidden()
    open_tab(page, "Race")
    page.click("#rc-kind-4 input")
    page.get_by_role("option", name="Chain", exact=True).click()
    lane = page.locator("#race-tree-picture-4 .sq-form-tree")
    expect(lane).to_contain_text("Next race: a chain of 6 nodes")
    page.fill("#rc-numbers-4 :is(input, textarea)", "3")
    expect(lane).to_contain_text("a chain of 3 nodes")


def check_file(page: Page) -> None:
    """The saved run is labelled as simulated, and names its clock."""
    expect(page.locator("#pg-save")).to_be_enabled()
    with page.expect_download() as saved:
        page.click("#pg-save")
    run = Run.from_json(Path(saved.value.path()).read_text())
    assert (run.meta["label"], run.meta["clock"]) == ("simulated", CARD)


def check_picture(page: Page) -> None:
    """The saved picture has the badge "simulated", in the colour that it has on the page."""
    colour = page.evaluate(
        "getComputedStyle(document.querySelector('#pg-view [data-part=badge]')).backgroundColor"
    )
    with page.expect_download() as saved:
        page.click("[data-part=tree] [data-save=svg]")
    picture = Path(saved.value.path()).read_text()
    assert ">hypothetical, simulated for an A100</text>" in picture
    assert "(simulated)" in picture
    red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
    assert f'fill="#{red:02x}{green:02x}{blue:02x}"' in picture
