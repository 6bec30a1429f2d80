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
    run,
    save,
    store,
    until,
)
from running_app import CALLED, App, open_view
from view_pages import settle

from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.saved_files.race_file import RaceLog
from ui.run.messages import OpenedRun
from ui.shared.tree_menu import SHAPES

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
    page.evaluate("document.activeElement.blur()")
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
    enter(page, tokens=24)
    page.check("#pg-check input")  # off by default
    page.click("#pg-run")
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
    endless(page, tokens=400)
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
        ("tokens", "0", "Max tokens: 0 is not a whole number from 1 to 4096"),
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
    page.fill("#pg-prompt textarea", "def mean(")
    page.fill("#pg-second-prompt :is(input, textarea)", "Once upon a time")
    page.click("#pg-run")
    expect(error).to_contain_text("3 lanes on two prompts")
    assert store(page, "s.name") == before
    assert page.input_value("#pg-temperature input") == "0.6"


@pytest.mark.nightly
def test_markup_typed_by_a_visitor_stays_text(visit: Visit) -> None:
    page = visit()
    ready(page)
    page.fill(
        "#pg-prompt textarea", '<img src=x onerror="window.hit=1"> ${window.hit=2} {{value}}\n'
    )
    enter(page, tokens=8)
    run(page)
    choose_lanes(page, "SpecInfer tree", "Plain")
    field = numbers(page, 1)
    expect(field).to_have_value("4, 2, 2, 1")
    settle(page)  # the answer to the choice also fills the field
    field.fill("<img src=x onerror=window.hit=3>")
    settle(page)
    page.click("#pg-run")
    error = page.locator("#pg-view [data-part=error]")
    expect(error).to_contain_text("Lane 1")
    expect(error).to_contain_text("<img src=x onerror=window")
    assert page.evaluate("window.hit") is None


@pytest.mark.nightly
def test_more_runs_are_made_until_stop_and_the_file_has_them(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    ready(page)
    choose_lanes(page, "Chain", "Plain")
    enter(page, tokens=64)
    run(page)
    until(page, "s.isOver && s.pool?.more > 0")
    more = page.locator("#pg-view [data-part=more-runs]")
    more.click()
    until(page, "s.pool.planned > 1 && s.pool.runs.length > 2", 60)
    expect(page.locator("#pg-run")).to_be_enabled()
    more.click()  # Stop
    until(page, "s.pool.planned === null")
    runs = store(page, "s.pool.runs.length")
    assert store(page, "s.verdict.races") == runs
    assert store(page, "s.verdict.pairs[0].p") is None
    scope = page.locator("#pg-view [data-part=verdict-scope]").text_content()
    assert f"the {runs} prompts listed" in scope
    open_file(page, save(page, tmp_path / "run.json"))
    until(page, "s.meta.label === 'recorded' && s.done")
    assert store(page, "[s.pool.runs.length, s.pool.more]") == [runs, 0]


@pytest.mark.nightly
def test_keys_start_and_stop_a_run_only_in_this_view(visit: Visit) -> None:
    """Control+Enter starts a run and Escape stops it. In Design, Control+Enter starts nothing."""
    page = visit()
    ready(page)
    endless(page, tokens=2000)
    page.click("#pg-prompt textarea")
    page.keyboard.press("Control+Enter")
    until(page, "s.meta.label === 'measured' && s.arrived.length > 3")
    page.keyboard.press("Escape")
    until(page, "s.done && s.stopped", 10)
    page.hover("#pg-run")
    assert "Ctrl+Enter" in page.get_attribute("#pg-run", "title")
    expect(page.locator("#pg-run")).to_be_enabled()
    name = store(page, "s.name")
    enter(page, tokens=16)
    open_view(page, "Tree")
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    assert store(page, "s.name") == name


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


@pytest.mark.nightly
def test_a_view_that_missed_its_first_value_asks_for_it(visit: Visit) -> None:
    page = visit()
    until(page, "s.arrived.length > 5")
    assert page.evaluate(
        """() => new Promise((called) => {
        const element = document.createElement("div");
        element.innerHTML = '<div class="sq-stage"></div>';
        document.body.prepend(element); // the view asks when it is visible
        const { name } = performance.getEntriesByType("resource")
          .find((one) => one.name.endsWith("/modules.js"));
        import(name).then(({ modules }) =>
          modules["run/connect"].connect(element, { value: "" }, () => {}, () => called(true), {}));
    })"""
    )


def analysis(page: Page) -> None:
    """Show the end of the run, with its charts and analysis."""
    page.evaluate(f"{STAGE}.store.seekEnd()")
    page.click("#pg-view [data-part=analysis] > summary")


@pytest.mark.nightly
def test_a_suggested_tree_is_copied_to_the_form(visit: Visit) -> None:
    page = visit()
    until(page, "s.arrived.length > 5")
    shown = OpenedRun(log_in(Path(__file__).with_name("run_with_a_remedy.json")))
    page.evaluate(f"message => {STAGE}.ingest(JSON.parse(message))", shown.whole())
    analysis(page)
    page.locator("#pg-view .run-remedies .sq-btn").first.click()
    page.locator("#pg-view").get_by_text("press Run to try it").wait_for(timeout=20_000)
    lane = store(page, "s.analysis.findIndex(r => r.advice?.remedies.some(one => one.parents))")
    parents = store(page, f"s.analysis[{lane}].advice.remedies.find(one => one.parents).parents")
    assert parents == [*range(-1, len(parents) - 1)]  # a chain, which is an entry of the menu
    expect(page.locator(f"#pg-kind-{lane + 1} input")).to_have_value("Chain")
    expect(numbers(page, lane + 1)).to_have_value(str(len(parents)))


LEGEND = """[...document.querySelectorAll('#pg-view .hw-chart')].map(chart => {
  const at = name => chart.querySelector(name).getBoundingClientRect();
  return at('.legend').bottom <= at('.bglayer').top + 2; })"""


@pytest.mark.nightly
def test_the_legends_stay_above_the_curves_of_a_full_page_picture(visit: Visit) -> None:
    """While a browser takes it, the window is one pixel wide."""
    page = visit()
    ready(page)
    open_more(page)
    choose(page, "example", "As on an A100")
    until(page, "s.meta.label === 'simulated' && s.results.length === 3")
    analysis(page)
    expect(page.locator("#pg-view .hw-chart[data-drawn]")).to_have_count(2, timeout=30_000)
    settle(page)
    for width in (1, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(600)
    assert page.evaluate(LEGEND) == [True, True]


# -- the form --------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_lane_looked_at_keeps_its_numbers_and_its_tree_is_drawn(visit: Visit) -> None:
    """Opening a lane's menu and leaving it without a choice must not reset the numbers. The picture
    shows the tree described by the fields; an invalid field hides it."""
    page = visit()
    ready(page)
    choose_lanes(page, "k-ary", "Plain", "Chain")
    picture = page.locator("#pg-tree-picture-1")
    expect(numbers(page, 1)).to_have_value("2, 5")
    expect(picture).to_contain_text("31 nodes on 5 levels")
    numbers(page, 1).fill("2, 3")
    expect(picture).to_contain_text("7 nodes on 3 levels")
    assert picture.locator(".sq-thumbnail-dots").get_attribute("d").count("M") == 7
    with page.expect_response(CALLED) as answer:
        page.click("#pg-kind-1 input")
        page.keyboard.press("Tab")
    answer.value.finished()
    settle(page)
    expect(numbers(page, 1)).to_have_value("2, 3")
    numbers(page, 1).fill("2, 99")
    expect(picture.locator(".sq-form-tree")).to_be_hidden()
    expect(page.locator("#pg-tree-picture-3")).to_contain_text("a chain of 6 nodes")
    choose(page, "kind-1", "SpecInfer tree")
    expect(numbers(page, 1)).to_have_value("4, 2, 2, 1")


CARD = "A100, Llama-2-7B with 68M, eager, as in the paper"


@pytest.mark.nightly
def test_a_preset_fills_the_form_and_its_run_is_simulated(visit: Visit, tmp_path: Path) -> None:
    """On the clock of an A100, a large tree wins."""
    page = visit()
    ready(page)
    open_more(page)
    view, about = page.locator("#pg-view"), page.locator("#pg-about")
    earlier = view.locator(".run-earlier")
    expect(earlier).to_be_hidden()
    page.click("#pg-preset-shapes")
    expect(earlier).to_be_visible()
    expect(page.locator("#pg-kind-4 input")).to_have_value("Sequoia, sized")
    expect(numbers(page, 2)).to_have_value("2, 7")
    page.click("#pg-preset-prose")
    expect(page.locator("#pg-second-prompt :is(input, textarea)")).not_to_have_value("")
    page.click("#pg-preset-a100")
    expect(page.locator("#pg-kind-4")).to_be_hidden()
    expect(numbers(page, 2)).to_be_hidden()
    expect(page.locator("#pg-second-prompt :is(input, textarea)")).to_have_value("")
    expect(page.locator("#pg-clock input")).to_have_value(re.compile("A100.*simulated"))
    expect(about).to_contain_text("(simulated)")
    enter(page, tokens=96, temperature=0)
    run(page, 240)
    until(page, "s.verdict")
    assert store(page, "s.meta.label") == "simulated"
    assert store(page, "s.lanes.map(({ title }) => title)") == ["Plain", "Tuned chain", "Sequoia"]
    assert store(page, "s.lanes[2].about.nodes") > 32
    assert store(page, "s.verdict.speedups[2].code") == "win"
    expect(view.locator("[data-part=badge]")).to_have_text("hypothetical, simulated for an A100")
    expect(view.locator("[data-part=simulated]")).to_contain_text("simulated for an A100")
    expect(view.locator("[data-part=flag]")).to_have_text("hypothetical")
    expect(view.locator("[data-part=notes]")).to_contain_text("not on this prompt")
    assert "measured" not in view.inner_text().lower()
    meta = log_in(save(page, tmp_path / "run.json")).meta
    assert (meta["label"], meta["clock"]) == ("simulated", CARD)
    check_picture(page)
    choose(page, "clock", "this machine")
    expect(about).to_have_text("")  # the form no longer matches the preset
    page.reload()
    until(page, "s.meta.label === 'simulated' && s.done", 60)


def check_picture(page: Page) -> None:
    """The saved picture of the tree has the badge "simulated", in the colour that it has on the
    page."""
    colour = page.evaluate(
        "getComputedStyle(document.querySelector('#pg-view [data-part=badge]')).backgroundColor"
    )
    with page.expect_download() as saved:
        page.click("#pg-view [data-part=view] > summary")
        page.click("#pg-view [data-part=tree] [data-save=svg]")
    picture = Path(saved.value.path()).read_text()
    assert ">hypothetical, simulated for an A100</text>" in picture
    assert "(simulated)" in picture
    red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
    assert f'fill="#{red:02x}{green:02x}{blue:02x}"' in picture


@pytest.mark.nightly
def test_no_text_of_a_menu_is_under_its_arrow(visit: Visit) -> None:
    """Compares the width of every name in a lane's menus, in the page's own font, with the room up
    to the arrow."""
    page = visit()
    open_more(page)
    menus = (
        ("kind", [*(shape.name for shape in SHAPES.values()), "no lane"]),
        ("verifier", [one.label for one in VERIFIERS.values()]),
    )
    for width, (menu, names) in itertools.product((1280, 1920), menus):
        page.set_viewport_size({"width": width, "height": 1080})
        page.wait_for_selector(f"#pg-{menu}-1 input")
        room, widest = page.evaluate(
            """([id, names]) => {
          const [input, arrow] = ["input", ".icon-wrap"]
            .map((part) => document.querySelector(id + " " + part));
          const style = getComputedStyle(input);
          const pen = document.createElement("canvas").getContext("2d");
          pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
          const left = input.getBoundingClientRect().left + parseFloat(style.paddingLeft);
          return [arrow.getBoundingClientRect().left - left,
            Math.max(...names.map((name) => pen.measureText(name).width))];
        }""",
            [f"#pg-{menu}-1", list(names)],
        )
        assert widest <= room, (menu, widest, room)


@pytest.mark.nightly
def test_the_tab_key_shows_the_explanations_of_form_labels(visit: Visit) -> None:
    page = visit()
    open_more(page)
    page.click("#pg-temperature input")
    card = page.locator(".sq-explains")
    expect(card).to_be_hidden()  # after a click the card would be in the way
    page.keyboard.press("Tab")
    expect(card).to_have_text(
        "Samples only from the most probable tokens that together have this probability; "
        "1 keeps all."
    )
    page.locator("#pg-seed [data-testid=block-info]").hover()
    expect(card).to_contain_text("Fixes the random draws")
