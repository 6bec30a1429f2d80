"""The hardware view in a real browser: figures, what-if, measuring and stopping, saved profiles
after a reload, hostile files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from running_app import open_tab

from sequoia import HardwareProfile
from sequoia.assets_folder import ASSETS

Visit = Callable[..., Page]
BOARD = "document.querySelector('#hw-view .sq-stage').view"
MARKUP = "<img src=x onerror=window.hit=1> ${window.hit=2} {{value}}"

pytestmark = pytest.mark.nightly  # slow: the page has many charts


@pytest.fixture
def opened(visit: Visit) -> Callable[..., Page]:
    """A function that opens the view and waits for the models and for three charts."""

    def show(query: str = "", **options: Any) -> Page:
        page = visit(query, **options)
        page.wait_for_selector(".pg-status[data-stage=ready]", timeout=60_000)
        comes(page)
        return page

    return show


def comes(page: Page) -> None:
    open_tab(page, "Hardware")
    page.wait_for_function(
        "document.querySelectorAll('.hw-chart[data-drawn=yes]').length >= 3", timeout=30_000
    )


def board(page: Page, what: str) -> Any:
    return page.evaluate(f"{BOARD}.{what}")


def choose(page: Page, menu: str, option: str) -> None:
    page.click(f"#hw-{menu} input")
    page.get_by_role("option", name=option).click()


def until(page: Page, true: str, seconds: float = 15) -> None:
    page.wait_for_function(
        f"(() => {{ const b = {BOARD}; return {true}; }})()", timeout=seconds * 1000
    )


def drawn_nodes(page: Page) -> int:
    """How many dots the picture of the fastest tree has."""
    paths = page.locator("#hw-view [data-part=tree] .sq-dot")
    return sum((path.get_attribute("d") or "").count("M") for path in paths.all())


def test_figures_are_drawn_from_what_the_server_sent(opened: Callable[..., Page]) -> None:
    page = opened()
    assert board(page, "view.profile.label") == "measured"
    drawn = page.evaluate(
        "[...document.querySelectorAll('.hw-chart[data-drawn=yes]')].map(n => "
        "n.data.map(d => d.type))"
    )
    assert drawn[0] == ["heatmap", "scatter"]
    assert (
        page.locator("#hw-view [data-tile=speedup] .sq-tile-value").inner_text()
        == f"{board(page, 'view.plan.speedup'):.2f}"
    )
    assert drawn_nodes(page) == board(page, "view.plan.nodes")
    assert page.locator("#hw-view [data-part=why]").inner_text() == board(page, "view.why")
    assert (
        "No run to compare with its prediction"
        in page.locator("#hw-view .hw-figure[data-part=run]").inner_text()
    )
    assert page.locator("#hw-view .hw-one[data-label=recorded] td b").count() > 3


MAP_COLOURS = """async () => {
    const panel = document.querySelector("#hw-view .hw-figure[data-part=heat]");
    const image = new Image();
    image.src = panel.querySelector(".heatmaplayer image").href.baseVal;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"),
        { width: image.width, height: image.height });
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    pen.drawImage(image, 0, 0);
    const { x, y, z } = panel.querySelector(".hw-chart").data[0];
    const cell = (wanted) => {
        const row = z.findIndex((line) => line.includes(wanted));
        const at = [(z[row].indexOf(wanted) + 0.5) / x.length, 1 - (row + 0.5) / y.length];
        const [left, top] = [at[0] * image.width, at[1] * image.height].map(Math.floor);
        return [...pen.getImageData(left, top, 1, 1).data.slice(0, 3)];
    };
    const values = z.flat().filter((value) => value !== null);
    const fill = getComputedStyle(panel.querySelector(".cbfill")).fill.match(/#([\\w-]+)/)[1];
    const stops = [...document.getElementById(fill).children].map((one) =>
        one.getAttribute("stop-color").match(/\\d+/g).map(Number));
    const ends = [stops[0], stops.at(-1)]; // from the bottom up
    return [[cell(Math.min(...values)), cell(Math.max(...values))], ends];
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_map_has_the_colours_of_its_legend(opened: Callable[..., Page], theme: str) -> None:
    """The cells with the lowest and the highest speed-up have the colours at the ends of the
    legend, in both themes. The explanation of the map does not say which end is dark, since that
    depends on the theme."""
    page = opened("?__theme=light")
    if theme == "dark":
        page.click("[data-act=theme]")
        page.wait_for_timeout(500)
    cells, ends = page.evaluate(MAP_COLOURS)
    for cell, end in zip(cells, ends, strict=True):
        assert max(abs(a - b) for a, b in zip(cell, end, strict=True)) <= 12
    term = page.locator("#hw-view [data-term='speed-up map']").get_attribute("aria-describedby")
    explained = page.locator(f"#{term}").text_content() or ""
    assert "colour" in explained
    assert "dark" not in explained
    assert "light" not in explained


def test_hovering_a_cell_tells_its_values(opened: Callable[..., Page]) -> None:
    page = opened()
    box = page.locator("#hw-view .hw-figure[data-part=heat] .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.4)
    page.mouse.move(box["x"] + box["width"] * 0.42, box["y"] + box["height"] * 0.42)
    expect(page.locator("#hw-view .hw-figure[data-part=heat] .hoverlayer")).to_contain_text(
        "tokens in", timeout=20_000
    )


def test_what_if_and_two_curves(opened: Callable[..., Page]) -> None:
    page = opened()
    before = board(page, "view.plan.nodes")
    choose(page, "profile", "A100, Llama-2-7B with 68M, eager")
    until(page, "b.view.profile.label === 'simulated'")
    assert page.locator("#hw-view [data-part=label]").inner_text() == "simulated"
    assert board(page, "view.plan.nodes") > before
    assert drawn_nodes(page) == board(page, "view.plan.nodes")
    choose(page, "against", "L40 offloading, Llama-3-70B with 8B")
    until(page, "b.verify.chart.node.data.filter(d => d.mode === 'lines+markers').length === 2")
    page.fill("#hw-nodes input", "16")
    page.press("#hw-nodes input", "Enter")
    until(page, "b.view.plan.nodes <= 16")
    page.fill("#hw-nodes input", "99999")
    page.press("#hw-nodes input", "Enter")
    page.locator("#hw-view [data-part=banner]").get_by_text(
        "99999 is not a whole number from 1 to 1024"
    ).wait_for(timeout=20_000)
    assert board(page, "view.plan.nodes") <= 16


def test_nothing_covers_a_legend_and_a_zoomed_figure_can_be_reset(
    opened: Callable[..., Page],
) -> None:
    """Guards against Plotly's toolbar covering the legend when the pointer is in the figure."""
    page = opened()
    flat = ASSETS / "hardware_profiles" / "l40-offloading-llama3-70b-8b.json"
    page.set_input_files("#hw-page input[type=file]", flat)
    until(page, "b.view.profile.label === 'paper'")
    choose(page, "profile", "this machine")
    until(page, "b.view.profile.label === 'measured'")
    figure = page.locator("#hw-view [data-part=small]")
    range_of = f"{BOARD}.small.chart.node.layout.xaxis.range"
    whole = page.evaluate(range_of)
    figure.scroll_into_view_if_needed()
    box = figure.locator(".nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5, steps=4)
    page.mouse.up()
    until(page, f"{range_of}[0] > {whole[0]} + 0.1")
    assert page.locator("#hw-view .modebar-btn").count() == 0
    choose(page, "against", "L40 offloading, 70B with 8B")
    until(page, "b.view.against !== null")
    assert page.evaluate(range_of)[0] > whole[0] + 0.1  # another choice keeps the zoom
    choose(page, "against", "nothing")
    until(page, "b.view.against === null")
    figure.get_by_role("button", name="The whole figure").click()
    until(page, f"Math.abs({range_of}[0] - {whole[0]}) < 1e-6")


def test_words_are_explained_by_pointer_and_by_keyboard(opened: Callable[..., Page]) -> None:
    page = opened()
    assert page.locator("#hw-view .sq-term:not([data-term])").all_inner_texts() == []
    knee = page.get_by_role("button", name="Target pass doubles at")
    card = page.locator(".sq-explains")
    knee.focus()
    expect(card).to_contain_text("at least twice as long as that of one node")
    expect(page.locator("[data-tile=knee]")).to_contain_text("≥ 2× the time of 1 node")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.locator("#hw-view").get_by_role("button", name="positional assumption").hover()
    expect(card).to_contain_text("rank alone")


def test_a_profile_compared_with_itself_shows_a_message(opened: Callable[..., Page]) -> None:
    page = opened()
    choose(page, "against", "A100, Llama-2-7B with 68M, eager")
    until(page, "b.view.against !== null")
    choose(page, "profile", "A100, Llama-2-7B with 68M, eager")
    until(page, "b.view.profile.label === 'simulated' && b.view.against === null")
    expect(page.locator("#hw-against input")).to_have_value("nothing")
    expect(page.locator("#hw-view [data-part=banner]")).to_contain_text("nothing to compare")
    page.click("#hw-against input")
    assert page.get_by_role("option", name="shown now").inner_text().startswith("A100")
    page.get_by_role("option", name="L40 offloading, Llama-3-70B with 8B").click()
    until(page, "b.view.against !== null")
    expect(page.locator("#hw-view [data-part=banner]")).to_be_hidden()


def test_a_new_measurement_says_in_a_banner_what_changed(opened: Callable[..., Page]) -> None:
    page = opened()
    words = "A one-token pass takes 6.6 ms; before, it took 7.4 ms (-11%)."
    page.evaluate(f"words => {BOARD}.take({{ view: {BOARD}.view, notice: words }})", words)
    banner = page.locator("#hw-view [data-part=banner]")
    expect(banner).to_have_text(words)
    expect(banner).to_have_attribute("role", "status")


def test_a_measurement_shows_progress_and_can_be_stopped(opened: Callable[..., Page]) -> None:
    page = opened()
    before = board(page, "view.file")
    page.click("#hw-measure")
    page.wait_for_function(
        "Number(document.querySelector('.hw-stage').dataset.share) >= 2", timeout=30_000
    )
    expect(page.locator("#hw-measure")).to_be_disabled()
    page.click("#hw-stop")
    page.locator("#hw-view [data-part=banner]").get_by_text(
        "The previous profile is kept."
    ).wait_for(timeout=20_000)
    expect(page.locator("#hw-measure")).to_be_enabled()
    assert board(page, "view.file") == before
    assert page.locator("#hw-view .hw-progress").is_hidden()


def test_profiles_are_kept_over_a_reload_exported_and_removed(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    page = opened()
    page.fill("#hw-name input, #hw-name textarea", MARKUP)
    page.click("#hw-save")
    until(page, "b.view.profile.label === 'recorded'")
    assert page.locator("#hw-view .sq-about .sq-model-name").last.inner_text() == MARKUP
    with page.expect_download() as waiting:
        page.get_by_label("Export the profile as JSON").click()
    file = tmp_path / "profile.json"
    waiting.value.save_as(file)
    assert HardwareProfile.from_json(file.read_text()).source == "recorded"
    page.reload()
    page.wait_for_selector(".pg-status[data-stage=ready]", timeout=60_000)
    comes(page)
    choose(page, "profile", MARKUP[:20])
    until(page, "b.view.profile.label === 'recorded'")
    page.click("#hw-remove")
    until(page, "b.view.profile.label === 'measured'")
    spoiled = json.loads(file.read_text())
    spoiled["target_seconds"][0][1] = -1
    file.write_text(json.dumps(spoiled))
    with page.expect_file_chooser() as chooser:
        page.click("#hw-open")
    chooser.value.set_files(file)
    says = "seconds of target_seconds[0]: -1 is not a number"
    page.locator("#hw-view [data-part=banner]").get_by_text(says).wait_for(timeout=20_000)
    assert board(page, "view.profile.label") == "measured"
    assert page.evaluate("window.hit") is None


def test_a_saved_profile_can_be_chosen_in_the_lab_at_once(opened: Callable[..., Page]) -> None:
    page = opened()
    times = "[data-part=clock]"
    page.get_by_role("tab", name="Lab").click()
    page.wait_for_function(f"document.querySelector('{times}')?.options.length > 1")
    assert "mine" not in page.inner_text(times)
    page.get_by_role("tab", name="Hardware").click()
    page.fill("#hw-name input, #hw-name textarea", "mine")
    page.click("#hw-save")
    until(page, "b.view.profile.label === 'recorded'")
    page.get_by_role("tab", name="Lab").click()
    option = "as on “mine” (recorded)"
    page.wait_for_function(f"document.querySelector('{times}').textContent.includes('{option}')")
    page.select_option(times, label=option)
    expect(page.locator("[data-part=clock-words]")).to_contain_text("nothing was measured here")
    page.get_by_role("tab", name="Hardware").click()
    page.click("#hw-remove")
    until(page, "b.view.profile.label === 'measured'")
    page.get_by_role("tab", name="Lab").click()
    page.wait_for_function(f"document.querySelector('{times}').value === 'here'")
    expect(page.locator("[data-part=clock-words]")).to_be_hidden()


def test_a_run_is_compared_with_its_prediction(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_role("tab", name="Decode").click()
    page.fill("#pg-tokens input", "24")
    page.click("#pg-run")
    page.wait_for_function(
        "(s => s.meta.label === 'measured' && s.done)"
        "(document.querySelector('#pg-view .sq-stage').view.store)",
        timeout=60_000,
    )
    page.get_by_role("tab", name="Hardware").click()
    until(page, "b.view.run !== null")
    assert page.locator("#hw-view [data-part=difference]").inner_text() == board(
        page, "view.run.sentence"
    )
    assert page.locator("#hw-view .hw-parts tr").count() == 7
    effects = page.locator("#hw-view .hw-parts td:last-child").all_inner_texts()
    assert effects[:5] == [part[3] for part in board(page, "view.run.parts")]
    assert all(
        "alone, this would give" in effect or "predicted" in effect or "hardly" in effect
        for effect in effects
    )
    assert page.locator("#hw-view .hw-one").first.get_attribute("data-label") == "measured"


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (420, 800)])
def test_light_dark_narrow_and_wide(opened: Callable[..., Page], width: int, height: int) -> None:
    page = opened("?__theme=light", has_form=False, viewport={"width": width, "height": height})
    ink = "document.querySelector('.hw-figure[data-part=verify] .xtick text').style.fill"
    light = page.evaluate(ink)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for part in page.locator("#hw-view .hw-stage .sq-panel").all():
        box = part.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width + 1
    page.click("[data-act=theme]")
    page.wait_for_function(f"{ink} !== {json.dumps(light)}")


def test_a_table_of_sixteen_depths_needs_no_scrolling(opened: Callable[..., Page]) -> None:
    """Guards against columns that have to be scrolled into view. A table of so many depths gets the
    whole width of the panel."""
    page = opened()
    assert page.viewport_size["width"] == 1280
    page.evaluate(f"""() => {{
        const one = (depths) => ({{ label: "recorded", name: "run", runs: 1, temperature: 0.6,
          depths, ranks: 2, of: [depths, 2],
            cells: [[0, 0, 40, 30, 0.6, 0.9]], all: [[40, 30, 0.6, 0.9], [40, 3, 0.01, 0.2]],
              holds: null, doubtful: [],
            sentence: "" }});
        {BOARD}.byLevel.show([one(16), one(4)]);
    }}""")
    hidden = page.evaluate(
        "[...document.querySelectorAll('.hw-by-level-box')].map(b => b.scrollWidth - b.clientWidth)"
    )
    assert hidden == [0, 0]


def test_no_entry_of_the_acceptance_menu_is_cut_off(opened: Callable[..., Page]) -> None:
    page = opened()
    page.click("#hw-rates input")
    options = page.locator("#hw-rates [role=option]")
    assert "code, T 0.6 · recorded" in [one.strip("✓ \n") for one in options.all_inner_texts()]
    cut = "nodes => nodes.filter(n => n.scrollWidth > n.clientWidth).map(n => n.textContent)"
    assert options.evaluate_all(cut) == []
    cut = "(n, all) => all.filter(t => { n.value = t; return n.scrollWidth > n.clientWidth; })"
    texts = [one.strip("✓ \n") for one in options.all_inner_texts()]
    assert page.locator("#hw-rates input").evaluate(cut, texts) == []


def test_the_arrow_of_make_your_own_profile_points_right_if_closed_and_down_if_open(
    opened: Callable[..., Page],
) -> None:
    page = opened()
    head = page.locator("#hw-own .label-wrap")
    arrow = head.locator(".icon")
    # ▼ is turned 90° counter-clockwise, so it points right, to the name that follows it
    expect(arrow).to_have_css("transform", "matrix(0, -1, 1, 0, 0, 0)")
    assert arrow.bounding_box()["x"] < head.locator("span").first.bounding_box()["x"]
    head.click()
    expect(page.locator("#hw-make")).to_be_visible()
    expect(arrow).to_have_css("transform", "matrix(1, 0, 0, 1, 0, 0)")


def test_a_profile_made_with_the_form_can_time_a_run(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_text("Make your own profile").click()
    page.fill("#hw-own-name input", "my card")
    page.fill("#hw-own-device-tflops input", "0")
    page.click("#hw-make")
    wrong = page.locator("#hw-own-device-tflops")
    expect(wrong).to_contain_text("Peak compute: '0' is not a number from 0.001 to 1e+06")
    expect(wrong.locator("input")).to_be_focused()
    assert page.input_value("#hw-own-name input") == "my card"
    page.fill("#hw-own-device-tflops input", "165")
    page.click("#hw-make")
    until(page, "b.view.profile.name === 'my card' && b.view.profile.label === 'simulated'")
    expect(wrong).not_to_contain_text("is not a number")
    page.reload()
    page.wait_for_selector(".pg-status[data-stage=ready]", timeout=40_000)
    page.wait_for_function(
        "document.querySelector('#pg-view .sq-stage')?.view?.store.steps.length > 0"
    )
    page.get_by_role("tab", name="Decode").click()
    if not page.locator("#pg-side").is_visible():
        page.click("[data-act=panel]")
    page.click("#pg-clock input")
    page.locator("#pg-clock [role=option]").filter(has_text="as on “my card” (simulated)").click()
    expect(page.locator("#pg-tree input")).to_have_value("Sequoia, planned for my card")
    for tree in ("k-ary tree", "Sequoia, planned for my card"):
        page.click("#pg-tree input")
        page.locator("#pg-tree [role=option]").filter(has_text=tree).click()
        if tree == "k-ary tree":
            picture = page.locator("#decode-tree-picture .sq-form-tree")
            expect(picture).to_contain_text("Next run: 31 nodes on 5 levels")
    page.fill("#pg-tokens input", "16")
    page.click("#pg-run")
    page.wait_for_function(
        "(s => s.meta.clock === 'my card' && s.done)"
        "(document.querySelector('#pg-view .sq-stage').view.store)",
        timeout=60_000,
    )
    page.get_by_role("tab", name="Lab").click()
    page.wait_for_function("document.querySelector('[data-part=clock]')?.value === 'kept:my card'")
