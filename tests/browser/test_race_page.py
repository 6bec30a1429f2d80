"""The Race tab of the running app, as a visitor uses it: recorded race, keys, Stop, a lane in the
Decode view, a suggested tree, reload. A race shows several ways to decode one prompt side by side;
each is a lane."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from running_app import CALLED, open_view
from test_race_view import AXE, VIOLATIONS
from view_pages import settle

from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.saved_files.race_file import RaceLog
from ui.race.messages import OpenedRace
from ui.shared.tree_menu import SHAPES

Visit = Callable[..., Page]
STORE = "document.querySelector('#rc-view .sq-stage').view.store"


def store(page: Page, what: str) -> Any:
    return page.evaluate(f"{STORE}.{what}")


def until(page: Page, condition: str, seconds: float = 20) -> None:
    """Wait until the JavaScript `condition` holds; in it, s is the view's store."""
    store = "document.querySelector('#rc-view .sq-stage')?.view?.store"
    found = f"(() => {{ const s = {store}; return s && ({condition}); }})()"
    page.wait_for_function(found, timeout=seconds * 1000)


def to_race(page: Page, **values: Any) -> None:
    """Open the race tab, choose two lanes (plain decoding and a chain) and this machine's clock, and
    type numbers into its form."""
    page.wait_for_selector(".pg-status[data-stage=ready]", timeout=120_000)
    open_view(page, "Side by side")
    for place, name in ((2, "Chain"), (3, "no lane")):
        page.click(f"#rc-kind-{place} input")
        # the previous menu may still be closing
        page.get_by_role("option", name=name, exact=True).last.click()
    page.click("#rc-clock input")
    page.locator("#rc-clock [role=option]").first.click()
    for name, value in values.items():
        page.fill(f"#rc-{name} input", str(value))


@pytest.mark.nightly
def test_a_lane_looked_at_keeps_its_numbers(visit: Visit) -> None:
    """Opening a lane's menu and leaving it without a choice must not reset the numbers."""
    page = visit()
    to_race(page)
    numbers = page.locator("#rc-numbers-2 input, #rc-numbers-2 textarea")
    numbers.fill("9")
    with page.expect_response(CALLED) as answer:
        page.click("#rc-kind-2 input")
        page.keyboard.press("Tab")
    answer.value.finished()
    settle(page)
    expect(numbers).to_have_value("9")
    page.click("#rc-kind-2 input")
    page.get_by_role("option", name="k-ary").last.click()
    expect(numbers).to_have_value("2, 5")


@pytest.mark.nightly
@pytest.mark.parametrize("view", ["decode", "race"])
def test_a_view_that_missed_its_first_value_asks_for_it(visit: Visit, view: str) -> None:
    page = visit()
    open_view(page, "Side by side")
    until(page, "s.arrived.length > 5")
    asked = page.evaluate(
        """(view) => new Promise((called) => {
        const element = document.createElement("div");
        element.innerHTML = '<div class="sq-stage"></div>';
        document.body.prepend(element); // the Race view asks when it is visible
        const { name } = performance.getEntriesByType("resource")
          .find((one) => one.name.endsWith("/modules.js"));
        import(name).then(({ modules }) =>
          modules[view + "/connect"].connect(
            element, { value: "" }, () => {}, () => called(true), {}));
    })""",
        view,
    )
    assert asked


def test_a_visitor_runs_saves_and_reloads_a_race(visit: Visit, tmp_path: Path) -> None:
    """A visitor sees the recorded race, runs one of their own, stops its losslessness check, saves
    the race, reloads the page, and looks at the steps of a lane."""
    page = visit()
    open_view(page, "Side by side")  # a view is made when its tab is first opened
    until(page, "s.arrived.length > 5 && s.lanes.length === 3")
    assert store(page, "meta.label") == "simulated"  # the times of another machine
    to_race(page, tokens=24)
    assert "measured" not in page.locator("#rc-view").inner_text()
    page.check("#rc-check input")  # off by default
    page.click("#rc-run")
    until(page, "s.meta.label === 'measured' && s.done && s.results.at(-1)?.lossless")
    assert store(page, "lanes.map(({ title }) => title)") == ["Plain", "Chain"]
    expect(page.locator(".race-lane[data-lane='1'] progress")).to_be_visible()
    page.click("#rc-stop")  # ends the check of losslessness, which would take a while
    expect(page.locator("#rc-run")).to_be_enabled(timeout=20_000)
    expect(page.locator(".race-lane[data-lane='1'] progress")).to_be_hidden()
    with page.expect_download() as waiting:
        page.click("#rc-save")
    waiting.value.save_as(tmp_path / "race.json")
    saved = RaceLog.from_json((tmp_path / "race.json").read_text(encoding="utf-8"))
    assert sum(len(lane.run.steps) for lane in saved.lanes) == store(page, "arrived.length")
    name = store(page, "name")
    page.reload()
    open_view(page, "Side by side")
    until(page, "s.arrived.length > 0")
    assert store(page, "name") == name
    assert f"race={name}" in page.url
    page.locator(".race-lane[data-lane='0'] button", has_text="Show tree").click()
    until(page, "s.chosen === 0 && s.totals(s.last).tokens === 24")
    expect(page.locator("#rc-view [data-part=tree] .sq-title")).to_contain_text("Plain")


def test_a_race_is_stepped_stopped_resumed_and_started_over(visit: Visit) -> None:
    """Then one lane alone: nothing is said about a winner."""
    page = visit()
    to_race(page, tokens=400, temperature=0)
    # At temperature 0, this text certainly continues. A sampled text may end after any token.
    page.fill("#rc-prompt textarea", "0 " * 13 + "0")
    run, stop = page.locator("#rc-run"), page.locator("#rc-stop")
    for rounds in (1, 2):
        page.click("#rc-step")
        made = f"s.lanes.every(({{ steps }}) => steps.length >= {rounds})"
        until(page, f"s.reason === 'paused' && {made}")
        expect(run).to_have_text("Resume")
    name = store(page, "name")
    run.click()
    until(page, "!s.done && s.lanes[0].steps.length > 5")
    stop.click()
    until(page, "s.done && s.stopped && s.verdict")
    expect(stop).to_have_text("Start over")
    run.click()
    until(page, "s.done && !s.stopped && s.verdict", 60)
    assert store(page, "name") == name
    expect(run).to_have_text("Run")
    page.click("#rc-step")
    until(page, f"s.reason === 'paused' && s.name !== '{name}'")
    expect(stop).to_have_text("Start over")
    stop.click()
    expect(run).to_have_text("Run")
    page.click("#rc-kind-1 input")
    page.get_by_role("option", name="no lane", exact=True).last.click()
    page.fill("#rc-tokens input", "16")
    run.click()
    until(page, "s.lanes.length === 1 && s.done && s.results[0]?.lossless")
    expect(page.locator("#rc-view [data-part=verdict]")).to_be_hidden()
    assert "1st" not in page.locator("#rc-view").inner_text()


@pytest.mark.nightly
def test_a_preset_fills_the_form_and_its_race_is_simulated(visit: Visit) -> None:
    page = visit()
    page.wait_for_selector(".pg-status[data-stage=ready]", timeout=120_000)
    open_view(page, "Side by side")
    about = page.locator("#rc-about")
    expect(about).to_contain_text("on an A100:")
    earlier = page.locator(".race-earlier")
    page.evaluate(f"{STORE}.goLive()")
    expect(page.locator("[data-part=verdict]")).to_be_visible()
    expect(earlier).to_be_hidden()
    page.click("#rc-preset-shapes")
    expect(earlier).to_be_visible()
    expect(page.locator("#rc-kind-4 input")).to_have_value("Sequoia, sized")
    expect(page.locator("#rc-numbers-2 input, #rc-numbers-2 textarea")).to_have_value("2, 7")
    page.click("#rc-preset-a100")
    expect(page.locator("#rc-kind-4 input")).to_have_value("no lane")
    expect(page.locator("#rc-numbers-2 input, #rc-numbers-2 textarea")).to_be_hidden()
    expect(page.locator("#rc-clock input")).to_have_value(re.compile("A100.*simulated"))
    expect(about).to_contain_text("(simulated)")
    page.fill("#rc-tokens input", "24")
    page.click("#rc-run")
    until(page, "s.meta.label === 'simulated' && s.done && s.verdict")
    assert store(page, "lanes.map(({ title }) => title)") == ["Plain", "Tuned chain", "Sequoia"]
    view = page.locator("#rc-view")
    expect(view.locator("[data-part=badge]")).to_have_text("hypothetical, simulated for an A100")
    expect(view.locator("[data-part=flag]")).to_have_text("hypothetical")
    expect(view.locator("[data-part=notes]")).to_contain_text("not on this prompt")
    assert store(page, "word") == "simulated"
    page.click("#rc-kind-4 input")
    page.get_by_role("option", name="k-ary").last.click()
    expect(about).to_have_text("")  # the lanes are the visitor's own now


@pytest.mark.nightly
def test_more_runs_are_made_until_stop_and_the_file_has_them(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    open_view(page, "Side by side")
    to_race(page, tokens=64)
    page.click("#rc-run")
    until(page, "s.meta.label === 'measured' && s.isOver && s.pool?.more > 0")
    page.click("[data-part=race-on-button]")
    until(page, "s.pool.planned > 1 && s.pool.runs.length > 2", 60)
    expect(page.locator("#rc-run")).to_be_enabled()
    page.click("[data-part=race-on-button]")  # Stop
    until(page, "s.pool.planned === null")
    runs = store(page, "pool.runs.length")
    assert store(page, "verdict.races") == runs
    assert store(page, "verdict.pairs")[0]["p"] is None
    scope = page.locator("[data-part=verdict-scope]").text_content()
    assert f"the {runs} prompts listed" in scope
    expect(page.locator("#rc-save")).to_be_enabled()
    with page.expect_download() as waiting:
        page.click("#rc-save")
    waiting.value.save_as(tmp_path / "race.json")
    with page.expect_file_chooser() as chooser:
        page.click("#rc-open")
    chooser.value.set_files(tmp_path / "race.json")
    until(page, "s.meta.label === 'recorded' && s.done")
    assert store(page, "pool.runs.length") == runs
    assert store(page, "pool.more") == 0


@pytest.mark.nightly
def test_keys_start_and_stop_a_race_only_in_the_race_tab(visit: Visit) -> None:
    """Control+Enter starts a race and Escape stops it. In the Lab, Control+Enter starts nothing."""
    page = visit()
    to_race(page, tokens=2000, temperature=0)
    # At temperature 0, this text certainly continues. A sampled text may end after any token.
    page.fill("#rc-prompt textarea", "0 " * 13 + "0")
    page.click("#rc-prompt textarea")
    page.keyboard.press("Control+Enter")
    until(page, "s.meta.label === 'measured' && s.arrived.length > 3")
    page.keyboard.press("Escape")
    until(page, "s.done && s.stopped", 10)
    page.hover("#rc-run")
    assert "Ctrl+Enter" in page.get_attribute("#rc-run", "title")
    expect(page.locator("#rc-run")).to_be_enabled()
    name = store(page, "name")
    page.fill("#rc-tokens input", "16")
    open_view(page, "Tree")
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    assert store(page, "name") == name
    assert (
        page.evaluate("document.querySelector('#pg-view .sq-stage').view.store.meta.label")
        == "recorded"
    )


@pytest.mark.nightly
def test_a_suggested_tree_is_copied_to_the_form(visit: Visit) -> None:
    page = visit()
    open_view(page, "Side by side")
    until(page, "s.results.length === 3")
    race = OpenedRace(
        RaceLog.from_json(
            Path(__file__).with_name("race_with_a_remedy.json").read_text(encoding="utf-8")
        )
    )
    page.evaluate(
        "message => document.querySelector('#rc-view .sq-stage').view.ingest(JSON.parse(message))",
        race.whole(),
    )
    page.locator(".race-remedies .sq-btn").first.click()
    page.locator("#rc-view").get_by_text("press Run to race it").wait_for(timeout=20_000)
    lane = store(page, "analysis.findIndex(r => r.advice?.remedies.some(one => one.parents))")
    parents = store(page, f"analysis[{lane}].advice.remedies.find(one => one.parents).parents")
    assert parents == [*range(-1, len(parents) - 1)]  # a chain, which is an entry of the menu
    numbers = page.locator(f"#rc-numbers-{lane + 1} input, #rc-numbers-{lane + 1} textarea")
    expect(numbers).to_have_value(str(len(parents)))
    expect(page.locator(f"#rc-kind-{lane + 1} input")).to_have_value("Chain")


TAB_STOPS = """nodes => nodes.filter(n =>
  n.tabIndex >= 0 && n.offsetParent && n.checkVisibility() && !n.disabled).length"""


@pytest.mark.nightly
def test_the_race_tab_has_few_tab_stops(visit: Visit) -> None:
    page = visit()
    open_view(page, "Side by side")
    until(page, "s.results.length === 3")
    page.evaluate("document.querySelector('#rc-view .sq-stage').view.seek(1e9)")
    settle(page)
    nodes = page.locator("#rc-page :is(a, button, input, select, textarea, [tabindex])")
    assert nodes.evaluate_all(TAB_STOPS) <= 47
    stops = page.locator("#rc-view :is(a, button, input, select, textarea, [tabindex])")
    assert stops.evaluate_all(TAB_STOPS) <= 24


LEGEND = """[...document.querySelectorAll('#rc-view .hw-chart')].map(chart => {
  const at = name => chart.querySelector(name).getBoundingClientRect();
  return at('.legend').bottom <= at('.bglayer').top + 2; })"""


@pytest.mark.nightly
def test_the_legends_stay_above_the_curves_of_a_full_page_picture(visit: Visit) -> None:
    """While a browser takes it, the window is one pixel wide."""
    page = visit()
    open_view(page, "Side by side")
    until(page, "s.results.length === 3")
    page.evaluate("document.querySelector('#rc-view .sq-stage').view.seek(1e9)")
    expect(page.locator("#rc-view .hw-chart[data-drawn]")).to_have_count(2, timeout=30_000)
    settle(page)
    for width in (1, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(600)
    assert page.evaluate(LEGEND) == [True, True]


@pytest.mark.nightly
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_recorded_race(visit: Visit, theme: str) -> None:
    page = visit(f"?__theme={theme}")
    open_view(page, "Side by side")
    until(page, "s.results.length === 3")
    page.evaluate("document.querySelector('#rc-view .sq-stage').view.seek(1e9)")
    settle(page)
    page.add_script_tag(path=AXE)
    assert page.evaluate(VIOLATIONS.replace(".race-stage", "#rc-view")) == []


@pytest.mark.nightly
def test_no_text_of_a_menu_is_under_its_arrow(visit: Visit) -> None:
    """Compares the width of every name in a lane's menus, in the page's own font, with the room up
    to the arrow."""
    page = visit()
    open_view(page, "Side by side")
    menus = (
        ("kind", [*(shape.name for shape in SHAPES.values()), "no lane"]),
        ("verifier", [one.label for one in VERIFIERS.values()]),
    )
    for width, (menu, names) in itertools.product((1280, 1920), menus):
        page.set_viewport_size({"width": width, "height": 1080})
        page.wait_for_selector(f"#rc-{menu}-3 input")
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
            [f"#rc-{menu}-3", list(names)],
        )
        assert widest <= room, (menu, widest, room)


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["pg", "rc"])
def test_the_tab_key_shows_the_explanations_of_form_labels(visit: Visit, form: str) -> None:
    page = visit()
    if form == "rc":
        open_view(page, "Side by side")
    page.click(f"#{form}-temperature input")
    card = page.locator(".sq-explains")
    expect(card).to_be_hidden()  # after a click the card would be in the way
    page.keyboard.press("Tab")
    expect(card).to_have_text(
        "Samples only from the most probable tokens that together have this probability; "
        "1 keeps all."
    )
    page.locator(f"#{form}-seed [data-testid=block-info]").hover()
    expect(card).to_contain_text("Fixes the random draws")
