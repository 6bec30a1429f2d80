"""The running app with the bundled pair of models, driven by a real browser: what a visitor sees,
presses and types."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from running_app import App, open_view
from view_pages import settle

from sequoia import Run

Visit = Callable[..., Page]
STOPS = """[...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex]")].filter(one =>
    one.tabIndex >= 0 && !one.disabled && one.role !== "tab" &&
    one.checkVisibility({ visibilityProperty: true })).length"""
STORE = "document.querySelector('#pg-view .sq-stage').view?.store"


def store(page: Page, what: str) -> Any:
    return page.evaluate(f"{STORE}.{what}")


def until(page: Page, true: str, seconds: float = 20) -> None:
    """Wait until a condition on the store `s` holds, for instance "s.steps.length > 3"."""
    page.wait_for_function(
        f"(() => {{ const s = {STORE}; return s && ({true}); }})()", timeout=seconds * 1000
    )


def ready(page: Page) -> None:
    page.wait_for_selector(".pg-status[data-stage=ready]", timeout=120_000)
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


def test_the_first_tab_stop_skips_to_the_run_and_there_are_few_stops(visit: Visit) -> None:
    page = visit()
    ready(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the run"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('#pg-view .sq-stage')")
    assert page.evaluate(STOPS) <= 40


def test_in_a_narrow_window_the_form_is_a_drawer_over_the_result(visit: Visit) -> None:
    width = 390
    page = visit(viewport={"width": width, "height": 800}, has_form=False)
    open_view(page, "One decoder")
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
    assert form.evaluate("form => form.scrollWidth <= form.clientWidth")
    assert form.evaluate("form => form.scrollHeight > form.clientHeight")  # it scrolls down
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


def test_a_run_streams_to_its_end(visit: Visit) -> None:
    page = visit()
    enter(page, tokens=48)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.steps.length > 1", 45)
    until(page, "s.done")
    assert store(page, "totals(s.last)".replace("s.last", f"{STORE}.last"))["tokens"] == 48
    assert store(page, "meta.plain_seconds") > 0
    assert store(page, "meta.speedup.label") == "measured"
    assert store(page, "error") is None
    assert re.search(r"[?&]run=", page.url)
    expect(page.locator("#pg-run")).to_be_enabled()
    text = page.locator("#pg-view .sq-stage").inner_text()
    assert "measured here" in text


def test_stop_ends_a_run_at_once_and_step_continues_it(visit: Visit) -> None:
    page = visit()
    ready(page)
    endless(page, tokens=2000)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.steps.length > 3")
    expect(page.locator("#pg-stop")).to_be_enabled()
    page.click("#pg-stop")
    until(page, "s.done")
    count = store(page, "steps.length")
    page.wait_for_timeout(400)
    assert store(page, "steps.length") == count
    expect(page.locator("#pg-step")).to_be_enabled()
    name = store(page, "name")
    page.click("#pg-step")
    until(page, f"s.steps.length === {count + 1}")
    assert store(page, "name") == name
    assert store(page, "meta.plain_seconds") is None


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
        page.locator("#pg-view .sq-stage").get_by_text(says).first.wait_for(timeout=20_000)
        expect(page.get_by_test_id("toast-body")).to_have_count(0)
        assert store(page, "steps.length") == before
        enter(page, temperature=0.6, tokens=16)
    page.fill("#pg-prompt textarea", "  ")
    page.click("#pg-run")
    page.locator("#pg-view .sq-stage").get_by_text("the prompt is empty").first.wait_for(
        timeout=20_000
    )
    assert store(page, "steps.length") == before
    assert page.input_value("#pg-temperature input") == "0.6"


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
    assert f"run={store(page, 'name')}" in page.url  # so that a reload shows the opened file
    name = store(page, "name")
    file.write_text(file.read_text(encoding="utf-8")[:-7], encoding="utf-8")
    open_file(page, file)
    page.locator("#pg-view .sq-stage").get_by_text("Not opened").first.wait_for(timeout=20_000)
    assert store(page, "name") == name
    assert store(page, "steps.map(x => x.emitted).flat()") == tokens


CUT = """[...document.querySelectorAll(".sq-text-box")].flatMap(box => {
    const { top, bottom } = box.getBoundingClientRect();
    const notes = [...box.querySelectorAll(".sq-end, .sq-loops")].filter(one => one.textContent);
    return notes.filter(one => one.offsetParent && [...one.getClientRects()]
        .some(line => line.top < top || line.bottom > bottom)).map(one => one.textContent);
})"""


@pytest.mark.parametrize("example", ["A tree that is too large", "A wide tree of 64 nodes"])
def test_an_example_is_shown_from_its_top_and_the_notes_at_its_end_are_whole(
    visit: Visit, example: str
) -> None:
    page = visit()
    ready(page)
    page.locator("#pg-example").scroll_into_view_if_needed()
    assert page.evaluate("scrollY") > 0
    choose(page, "example", example)
    until(page, "s.meta.label === 'recorded' && s.meta.title && s.done")
    page.wait_for_function("scrollY === 0")
    page.evaluate(f"{STORE}.seek({STORE}.last)")
    settle(page)
    assert page.locator("#pg-view .sq-loops").is_visible()
    assert page.evaluate(CUT) == []


def test_a_reload_shows_the_run_again(visit: Visit) -> None:
    page = visit()
    ready(page)
    enter(page, tokens=20)
    page.click("#pg-run")
    until(page, "s.meta.label === 'measured' && s.done")
    # wait until the stream has ended: Gradio's own client complains if a reload cuts it off
    expect(page.locator("#pg-run")).to_be_enabled()
    tokens = store(page, "steps.map(x => x.emitted).flat()")
    name = store(page, "name")
    page.reload()
    page.wait_for_function(
        "document.querySelector('#pg-view .sq-stage')?.view?.store.steps.length > 0"
    )
    assert store(page, "name") == name
    assert store(page, "steps.map(x => x.emitted).flat()") == tokens


def test_form_and_result_are_beside_each_other_in_both_themes(visit: Visit) -> None:
    width, height = 1280, 800
    page = visit("?__theme=light")
    until(page, "s.steps.length > 5")
    assert not page.evaluate("document.body.classList.contains('dark')")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    tree = page.locator("#pg-view .sq-stage svg").first.bounding_box()
    assert tree["y"] < height
    caption = page.locator("#pg-view [data-part=caption]").bounding_box()
    assert caption["y"] + caption["height"] < height * 0.8
    side = page.locator("#pg-side").bounding_box()
    stage = page.locator("#pg-view .sq-stage").bounding_box()
    assert side["x"] + side["width"] <= stage["x"] + 3
    assert stage["width"] > width * 0.7
    page.click("[data-act=panel]")
    assert not page.locator("#pg-side").is_visible()
    assert page.locator("#pg-view .sq-stage").bounding_box()["width"] > width * 0.95
    page.click("[data-act=theme]")
    assert page.evaluate("document.body.classList.contains('dark')")


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
                opener.open(request, timeout=30)
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
    expect(page.locator("#pg-view [data-part=speed-up]")).to_have_text(re.compile(r"^\d"))
    assert float(re.match(r"[\d.]+", page.inner_text("#pg-view [data-part=speed-up]"))[0]) > 1
    expect(page.locator("#pg-view [data-part=basis]")).to_contain_text(
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
    open_view(page, "Side by side")
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
        page.click("#pg-view [data-part=tree] [data-save=svg]")
    picture = Path(saved.value.path()).read_text()
    assert ">hypothetical, simulated for an A100</text>" in picture
    assert "(simulated)" in picture
    red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
    assert f'fill="#{red:02x}{green:02x}{blue:02x}"' in picture
