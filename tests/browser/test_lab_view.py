"""The Lab in a real Chromium: its results compared with Python's, and what a visitor drags, types,
draws and saves.

The test page comes from a plain file server. Plotly is loaded only in the tests that need its
figures. Only the test of running a tree uses the app.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nightly_cases import nightly
from playwright.sync_api import Locator, Page, expect
from tree_files import (
    from_node_link,
    from_paths,
    to_branching,
    to_csv,
    to_node_link,
    to_paths,
)
from view_pages import PLOTLY, address, opened, part, settle

from sequoia import Acceptance, HardwareProfile, Tree, best_plan, best_tree
from sequoia.algorithm.best_tree import best_first, dp_table
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.loading.load import recorded_acceptances
from sequoia.measuring.acceptance import wilson
from sequoia.measuring.defaults import SLACK
from sequoia.planning.plan_for_machine import bounds
from sequoia.planning.simulated_step_times import step_seconds

STATE = "made.state"
P = "modules.planner"


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """The test page."""
    yield from opened(tab, "lab")


def put(page: Page, **changes: Any) -> None:
    page.evaluate(f"changes => {STATE}.set(changes)", changes)
    settle(page)


def say(page: Page, field: str, value: str) -> None:
    """Type into a field and leave it."""
    page.fill(part(field), value)
    page.press(part(field), "Tab")
    settle(page)


def rates(page: Page) -> list[float]:
    return page.evaluate(f"{STATE}.rates")


def origin_of(page: Page) -> str:
    """The source of the vector, as the page shows it."""
    settle(page)
    return " ".join(page.inner_text(part("whence")).split())


def refused(page: Page, field: str) -> str:
    """The message about a refused field, found as a screen reader finds it. It must be in view,
    next to the field."""
    typed = page.locator(part(field))
    typed.scroll_into_view_if_needed()
    assert typed.get_attribute("aria-invalid") == "true"
    said = page.locator("#" + typed.get_attribute("aria-describedby"))
    assert said.get_attribute("role") == "alert"
    box = said.bounding_box()
    around = typed.bounding_box()
    window = page.viewport_size
    assert 0 <= box["y"] <= box["y"] + box["height"] <= window["height"]
    assert abs(box["y"] - around["y"]) < 160
    return said.inner_text()


def node(page: Page, number: int) -> Any:
    return page.locator(f'.sq-lab-tree .sq-n[data-node="{number}"]')


# -- the same figures as Python's ------------------------------------------------------------------


def vectors(count: int) -> list[list[float]]:
    """Random vectors, about half of them increasing somewhere, with zeros and ties among them."""
    rng = random.Random(11)
    made = []
    for i in range(count):
        raw = [
            rng.choice([0.0, rng.random(), rng.random() ** 4, 0.25])
            for _ in range(rng.randint(1, 9))
        ]
        total = sum(raw) * rng.uniform(1.0, 2.0)
        made.append(
            [
                value / total if total else 0.0
                for value in (sorted(raw, reverse=True) if i % 3 == 0 else raw)
            ]
        )
    return made


def profile(rng: random.Random) -> HardwareProfile:
    """Times that dip here and there, as measured ones do."""

    def points(first: float) -> tuple[tuple[int, float, float], ...]:
        return tuple(
            (n, first * rng.uniform(0.8, 1.4) * (1 + n / 40), 0.0) for n in (1, 2, 5, 16, 48)
        )

    return HardwareProfile(
        "d",
        "f",
        "t",
        "q",
        8,
        points(0.01),
        points(0.001),
        "simulated",
        "2026-01-01",
        points(0.0004),
        level_overhead=rng.uniform(0, 0.001),
    )


@pytest.mark.nightly
def test_growth_and_smoothing_are_as_in_python(page: Page) -> None:
    for given in vectors(40):
        for levels in (None, 2, 4):
            found = page.evaluate(
                f"([r, l]) => {{ const e = {P}.smooth(r), g = {P}.bestFirst(e, 60, l);"
                f" return [e, {P}.canonical(g.parents), g.totals]; }}",
                [given, levels],
            )
            even = Acceptance(tuple(given)).smoothed()
            growth = best_first(even, 60, levels)
            assert found[0] == pytest.approx(even.rates, abs=1e-12)
            assert found[1] == list(growth.tree(60).parents)
            assert found[2] == pytest.approx(growth.totals, abs=1e-9)


def test_every_cell_of_the_table_is_as_in_python_for_any_vector(page: Page) -> None:
    """Checks both kinds of table. With a level cap, a table has a layer per level, up to the cap or
    until more levels change nothing. Without a cap, it has a single layer."""
    for given in vectors(12):
        for levels in (None, 3, 5):
            at = levels or 24
            cells = page.evaluate(
                (
                    "([r, l, at]) => { const t = modules.DpTable.whole(r, 24, l), all = []; for "
                    "(let n = 1; n <= 24; n++) for (let b = 0; b < 24; b++) { const v = t.value(n, "
                    "at, b); all.push(Number.isFinite(v) ? v : null); } return [all, t.trace(24, "
                    "at, t.best(24, at).branches).parents, t.levels]; }"
                ),
                [given, levels, at],
            )
            assert cells[2] == 1 if levels is None else cells[2] <= levels
            table = dp_table(Acceptance(tuple(given)), 24, levels)
            for n in range(1, 25):
                for b in range(24):
                    found = cells[0].pop(0)
                    wanted = table._row(at, b)[n]
                    assert found == (
                        None if wanted == float("-inf") else pytest.approx(wanted, abs=1e-9)
                    ), (given, n, b)
            tree = Tree.from_parents(cells[1])
            assert expected_tokens(tree, Acceptance(tuple(given))) == pytest.approx(
                table.best(24, at)[0], abs=1e-9
            )


def test_times_and_plans_are_as_in_python(page: Page) -> None:
    rng = random.Random(3)
    for given in vectors(15):
        times = profile(rng)
        grown = [-1, *(rng.randrange(i) for i in range(1, 70))]
        data = json.loads(times.to_json())
        seconds, plan, roomy = page.evaluate(
            (
                f"([p, r, parents]) => [{P}.stepSeconds(parents, p), {P}.bestPlan(r, p, 80, 9), "
                f"{P}.bestPlan(r, p, 80, 9, 0.05)]"
            ),
            [data, given, grown],
        )
        assert seconds == pytest.approx(step_seconds(Tree.from_parents(grown), times), abs=1e-12)
        for found, slack in ((plan, SLACK), (roomy, 0.05)):
            wanted = best_plan(Acceptance(tuple(given)), times, 80, 9, slack)
            assert found["parents"] == list(wanted.tree.parents)
            assert found["speedup"] == pytest.approx(wanted.predicted_speedup, abs=1e-9)


@pytest.mark.parametrize("last", [1, 100, 300, 2000])
def test_by_default_the_lab_plans_within_the_planners_bounds(page: Page, last: int) -> None:
    """The Lab and the form of Decode must plan the same tree for the same profile."""
    times = replace(SLOW, target_seconds=((1, 1.0, 0.0), (last + 1, 1.01, 0.0)))
    data = times.to_dict()
    nodes, levels = bounds(times)
    assert page.evaluate(f"p => {P}.nodesFor(p)", data) == nodes
    assert page.evaluate(f"n => {P}.levelsFor(n)", nodes) == levels
    found = page.evaluate(f"p => {P}.bestPlan([0.6, 0.2, 0.1], p)", data)
    wanted = best_plan(Acceptance((0.6, 0.2, 0.1)), times, slack=SLACK)
    assert found["parents"] == list(wanted.tree.parents)


# -- shapes of one size ----------------------------------------------------------------------------


@pytest.mark.nightly
def test_every_shape_has_exactly_the_nodes_of_the_budget(page: Page) -> None:
    found = page.evaluate("""() => { const s = made.state, out = [];
        for (const n of [1, 2, 3, 7, 31, 100, 333, 1024]) { s.set({ n });
          for (const name of ["chain", "sequences", "kary", "branching", "best", "fitted"])
            out.push([name, n, s.parentsOf(name)]); }
        return out; }""")
    for name, n, parents in found:
        assert len(Tree.from_parents(parents)) == n, name


def test_shapes_that_fit_are_the_named_trees(page: Page) -> None:
    make = page.evaluate(
        "() => { const s = modules.shapes; return [s.chain(9), s.sequences(21, 4), s.kary(31, "
        "2), s.branching(25, [4, 2, 2])]; }"
    )
    assert [Tree(tuple(parents)) for parents in make[:3]] == [
        Tree.chain(9),
        Tree.sequences(4, 5),
        Tree.kary(2, 5),
    ]
    assert Tree(tuple(make[3])).parents == Tree.from_branching([4, 2, 2]).parents[:25]
    assert Tree.from_parents(
        page.evaluate("modules.shapes.branching(29, [4, 2, 2])")
    ) == Tree.from_branching([4, 2, 2])


def test_the_table_shows_the_size_and_its_figures_are_as_in_python(page: Page) -> None:
    put(page, rates=[0.6, 0.2, 0.1], n=40, levels=6)
    even = Acceptance((0.6, 0.2, 0.1))
    words = page.locator(".sq-lab-shapes").inner_text()
    assert "exactly 40 nodes" in words
    cells = page.locator('tr[data-shape="best"] td').all_inner_texts()
    tree = best_tree(even, 40, 6)
    assert cells[:2] == [str(tree.levels), f"{expected_tokens(tree, even):.3f}"]
    assert "1 of 40 nodes drawn" in page.locator('tr[data-shape="hand"]').inner_text()
    say(page, "k-kary", "0")
    assert refused(page, "k-kary") == '"0" is not a whole number from 1 to 1024.'
    say(page, "k-kary", "3")
    assert page.locator(part("k-kary")).get_attribute("aria-invalid") is None
    assert (
        page.locator('tr[data-shape="kary"] td').nth(1).inner_text()
        == f"{expected_tokens(complete(40, 3), even):.3f}"
    )


def complete(n: int, k: int) -> Tree:
    return Tree((-1, *((node - 1) // k for node in range(1, n))))


# -- acceptance ------------------------------------------------------------------------------------


def test_a_dragged_bar_scales_the_others_if_the_sum_would_pass_one(page: Page) -> None:
    """The other bars return to their old values when the dragged bar is lowered again."""
    page.select_option(part("presets"), "flat")
    settle(page)  # until then, the bars may still be moving to their places
    bar = page.locator('.sq-lab-bar[data-rank="1"]')
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.6)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 60)
    settle(page)
    page.mouse.up()
    assert rates(page) == [0, 1, 0, 0]
    assert "multiplied by 0" in page.inner_text(part("scaled"))
    say(page, "rate", "0.6")
    assert rates(page) == pytest.approx(
        [0.35 * 0.4 / 0.55, 0.6, 0.12 * 0.4 / 0.55, 0.08 * 0.4 / 0.55]
    )
    assert "multiplied by 0.73" in page.inner_text(part("scaled"))
    assert page.locator(part("problem")).is_hidden()
    bar.press("Home")
    bar.press("ArrowUp")
    bar.press("Shift+ArrowUp")
    settle(page)
    assert rates(page) == pytest.approx([0.35, 0.11, 0.12, 0.08])
    assert page.locator(part("scaled")).is_hidden()
    assert "sum 0.6600" in page.inner_text(part("sum"))
    assert page.locator(part("presets")).input_value() == "own"
    bar.press("ArrowRight")
    expect(page.locator('.sq-lab-bar[data-rank="2"]')).to_be_focused()


@pytest.mark.nightly
def test_the_axes_of_the_bars_are_named_in_words(page: Page) -> None:
    page.select_option(part("presets"), "paper")
    page.locator('.sq-lab-bar[data-rank="1"]').focus()
    settle(page)
    assert page.inner_text(part("rate-axis")) == "↑ acceptance rate, a[k]"
    assert page.inner_text(part("child-axis")) == "child k, in the order drafted →"
    numbers = page.locator(".sq-lab-k:visible")
    assert numbers.all_inner_texts() == ["1", "4", "8", "16"]
    assert page.inner_text("label[for=sq-lab-rate]") == "child 2, a[2]"
    page.select_option(part("presets"), "flat")
    settle(page)
    assert numbers.all_inner_texts() == ["1", "2", "3", "4"]


@pytest.mark.nightly
def test_a_typed_rate_out_of_bounds_is_refused_and_nothing_is_lost(page: Page) -> None:
    page.select_option(part("presets"), "flat")
    page.locator('.sq-lab-bar[data-rank="1"]').focus()
    settle(page)
    for typed, words in (
        ("1.5", "1.5"),
        ("-0.1", "-0.1"),
        ("x", 'rate 2: "x"'),
    ):
        say(page, "rate", typed)
        assert words in refused(page, "rate")
        assert rates(page) == [0.35, 0.2, 0.12, 0.08]
    page.locator('.sq-lab-bar[data-rank="0"]').focus()
    settle(page)
    assert page.locator(part("problem")).is_hidden()
    assert page.input_value(part("rate")) == "0.35"


@pytest.mark.nightly
def test_a_curve_of_two_parameters_replaces_any_vector_and_undo_brings_it_back(
    page: Page,
) -> None:
    page.select_option(part("presets"), "peaked")
    settle(page)
    page.click(part("handle-curve"))
    settle(page)
    assert rates(page) == [0.9, 0.04, 0.02, 0.01]
    first, exponent = page.evaluate("modules.vectors.fitPower([0.9, 0.04, 0.02, 0.01])")
    assert float(page.input_value(part("power-first"))) == pytest.approx(first, abs=0.011)
    assert float(page.input_value(part("power-exponent"))) == pytest.approx(exponent, abs=0.026)
    page.fill(part("power-exponent"), "2")
    page.fill(part("power-first"), "0.5")
    settle(page)
    assert rates(page) == pytest.approx([0.5, 0.5 / 4, 0.5 / 9, 0.5 / 16])
    assert origin_of(page).startswith("edited by hand from synthetic: peaked")
    page.get_by_role("button", name="Undo", exact=True).first.click()
    settle(page)
    assert rates(page) == [0.9, 0.04, 0.02, 0.01]
    assert float(page.input_value(part("power-first"))) == pytest.approx(first, abs=0.011)
    page.click(part("handle-bars"))
    settle(page)
    assert page.locator(part("power-first")).is_hidden()


PASTED = [
    ("[0.5, 0.25]", [0.5, 0.25]),
    ('{"format": "sequoia-acceptance", "version": 1, "rates": [0.5, 0.1]}', [0.5, 0.1]),
    ("0.5, 0.2; 0.1", [0.5, 0.2, 0.1]),
    ("0.5\n0.2\n", [0.5, 0.2]),
    ("rank,rate\n1,0.5\n2,0.2\n", [0.5, 0.2]),
    ("1,0\r\n2,0\r\n", [0, 0]),
]


@pytest.mark.nightly
def test_vectors_are_pasted_as_json_and_csv(page: Page) -> None:
    for text, wanted in PASTED:
        page.click(part("paste"))
        page.fill(part("sheet"), text)
        page.click(part("use"))
        settle(page)
        assert rates(page) == wanted
        assert page.inner_text(part("whence")).startswith("imported")


REFUSED = [
    ("", "nothing to read"),
    ("[0.9, 0.2]", "sum to 1.1"),
    ("[0.9,", "not JSON"),
    ('{"a": 1}', "no list of rates"),
    ("0.5, x", '"x"'),
    ("[]", "1 to 1024"),
    ("[null]", "rates[0] = null"),
    ('["0.5"]', "rates[0] = 0.5; it must be a number"),
    ("[1e999]", "Infinity"),
    (json.dumps([0.0] * 1025), "1025 rates"),
    ("<img src=x onerror=alert(1)>", "<img"),
]


def test_text_that_is_not_a_vector_is_refused_with_the_reason(page: Page) -> None:
    before = rates(page)
    page.click(part("paste"))
    for text, words in REFUSED:
        page.fill(part("sheet"), text)
        page.click(part("use"))
        settle(page)
        assert words in refused(page, "sheet")
        assert rates(page) == before
    assert page.locator(".sq-lab img").count() == 0


def test_saved_vectors_are_read_by_python(page: Page) -> None:
    page.select_option(part("presets"), "peaked")
    with page.expect_download() as saved:
        page.click('[data-part="acceptance"] button:has-text("JSON")')
    assert Acceptance.from_json(Path(saved.value.path()).read_text()) == Acceptance(
        (0.9, 0.04, 0.02, 0.01)
    )


@pytest.mark.nightly
def test_a_power_law_never_sums_to_more_than_one(page: Page) -> None:
    page.select_option(part("presets"), "power")
    for exponent in ("0", "0.5", "4"):
        page.fill(part("power-exponent"), exponent)
        settle(page)
        found = rates(page)
        assert sum(found) <= 1
        assert found[1] == pytest.approx(found[0] * 2 ** -float(exponent), rel=1e-6)


def test_a_fit_finds_the_power_law_again_and_intervals_are_as_in_python(page: Page) -> None:
    for first, exponent in ((0.45, 1.7), (0.3, 1.0), (0.9, 4.0)):
        given = Acceptance.power_law(exponent, first, 8).rates
        found = page.evaluate("r => modules.vectors.fitPower(r)", given)
        assert found == pytest.approx((first, exponent), rel=1e-9)
    assert page.evaluate("modules.vectors.wilson(53, 965)") == pytest.approx(
        wilson(53, 965), abs=1e-12
    )


# -- the tree, files, and the table of shapes ------------------------------------------------------


@pytest.mark.nightly
def test_the_budget_grows_one_tree_node_by_node(page: Page) -> None:
    put(page, rates=[0.6, 0.2, 0.1], n=20)
    places = page.evaluate("[...made.lab.tree.byNode.keys()].length")
    before = page.evaluate(f"{STATE}.parents")
    page.focus(part("budget"))
    page.keyboard.press("ArrowRight")
    settle(page)
    after = page.evaluate(f"{STATE}.parents")
    assert (places, len(after), after[:20]) == (20, 21, before)
    assert Tree.from_parents(after) == best_tree(Acceptance((0.6, 0.2, 0.1)), 21)
    assert "The last node adds" in page.inner_text(part("margin"))
    assert page.locator(".sq-n.is-newest:visible").get_attribute("data-node") == "20"
    say(page, "levels", "3")
    assert Tree.from_parents(page.evaluate(f"{STATE}.parents")) == best_tree(
        Acceptance((0.6, 0.2, 0.1)), 21, 3
    )


def test_a_budget_out_of_bounds_is_refused(page: Page) -> None:
    before = page.evaluate(f"[{STATE}.n, {STATE}.levels]")
    for field, value, bound in (
        ("n", "0", "1 to 1024"),
        ("n", "1025", "1 to 1024"),
        ("n", "2.5", "1 to 1024"),
        ("levels", "1", "2 to 1024"),
        ("levels", "x", "2 to 1024"),
    ):
        say(page, field, value)
        said = refused(page, field)
        assert f'"{value}"' in said
        assert bound in said
        assert page.evaluate(f"[{STATE}.n, {STATE}.levels]") == before
    page.focus(part("budget"))
    page.keyboard.press("ArrowRight")
    settle(page)
    assert page.locator(part("refused")).is_hidden()
    assert page.locator('.sq-lab-tree [aria-invalid="true"]').count() == 0
    assert page.input_value(part("levels")) == ""


def test_a_node_is_explained_with_its_own_operands(page: Page) -> None:
    put(page, rates=[0.5, 0.25], n=8)
    page.evaluate(
        "document.querySelector('.sq-lab-tree .sq-n[data-node=\"3\"]')"
        ".dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))"
    )
    found = page.inner_text(part("explain"))
    ranks, product = page.evaluate("[made.lab.tree.path(3), made.lab.tree.f[3]]")
    assert f"path {'.'.join(map(str, ranks))}" in found
    assert float(re.search(r"= ([\d.]+)[;.]", found)[1].rstrip(".")) == pytest.approx(
        product, rel=1e-3
    )


def test_a_tree_is_drawn_by_hand_within_the_budget(page: Page) -> None:
    put(page, rates=[0.6, 0.2, 0.1], n=4)
    page.click(part("show-hand"))
    settle(page)
    for _ in range(2):
        node(page, 0).click()
        settle(page)
    node(page, 1).focus()
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate(f"{STATE}.hand") == [-1, 0, 0, 1]
    best, own = (
        expected_tokens(tree, Acceptance((0.6, 0.2, 0.1)))
        for tree in (best_tree(Acceptance((0.6, 0.2, 0.1)), 4), Tree((-1, 0, 0, 1)))
    )
    said = page.inner_text(part("gap"))
    assert f"{own:.3f} tokens" in said
    assert f"the best tree of 4 nodes has {best:.3f}" in said
    node(page, 1).click()
    settle(page)
    assert "the budget of 4 nodes is used up" in page.inner_text(part("refused"))
    assert len(page.evaluate(f"{STATE}.hand")) == 4
    node(page, 1).focus()
    page.keyboard.press("Delete")
    settle(page)
    assert page.evaluate(f"{STATE}.hand") == [-1, 0]
    page.keyboard.press("Control+z")
    settle(page)
    assert page.evaluate(f"{STATE}.hand") == [-1, 0, 0, 1]
    page.get_by_role("button", name="From best").click()
    settle(page)
    assert "no tree of 4 nodes is better" in page.inner_text(part("gap"))
    page.evaluate(f"{STATE}.set({{levels: 4}})")
    settle(page)
    assert "no tree of 4 nodes on at most 4 levels is better" in page.inner_text(part("gap"))


@pytest.mark.nightly
def test_a_drawn_tree_keeps_the_level_cap_and_its_root(page: Page) -> None:
    put(page, n=9, levels=2, shown="hand", hand=[-1, 0])
    node(page, 1).click()
    settle(page)
    assert "the cap is 2" in page.inner_text(part("refused"))
    node(page, 0).focus()
    page.keyboard.press("Delete")
    settle(page)
    assert "root" in page.inner_text(part("refused"))
    assert page.evaluate(f"{STATE}.hand") == [-1, 0]


INSIDE = """box => { const around = box.getBoundingClientRect();
    return [...box.querySelectorAll(".sq-n")].filter((g) => g.style.display !== "none")
      .map((g) => g.getBoundingClientRect())
      .filter((pill) => pill.left < around.left || pill.right > around.right).length; }"""


@pytest.mark.parametrize("width", [1280, *nightly(1920)])
def test_nothing_of_a_tree_is_cut_at_its_sides(page: Page, width: int) -> None:
    """Each node is drawn as a pill. The last pills of the top row, which is the longest, were once
    outside the panel. Also checks how many nodes the page says are shown."""
    page.set_viewport_size({"width": width, "height": 800})
    for key, n in (
        ("paper", 2),
        ("paper", 64),
        ("paper", 512),
        ("flat", 40),
        ("peaked", 16),
        ("peaked", 1024),
    ):
        page.select_option(part("presets"), key)
        put(page, n=n)
        assert page.eval_on_selector(".sq-lab-scroll", INSIDE) == 0
        assert "scroll" not in page.inner_text(part("explain"))
        assert "…" not in "".join(page.locator(".sq-lab-tree .sq-n-text").all_text_contents())
    put(page, n=64, shown="chain")
    assert page.eval_on_selector(".sq-lab-scroll", INSIDE) == 0
    last = page.locator(".sq-lab-tree .sq-n.has-more:visible")
    drawn = int(last.get_attribute("data-node")) + 1
    assert last.text_content().endswith(f" ▸{64 - drawn}")
    assert f"{drawn} of 64 nodes shown" in page.inner_text(part("lab-tree"))
    last.click()
    page.mouse.move(0, 0)
    page.focus(part("find"))
    put(page)
    assert page.locator(".sq-lab-tree .sq-n:visible").count() == 64
    said = re.search(r"Levels 1 to (\d+) of the 64 drawn", page.inner_text(part("explain")))
    # A pill is narrower than its column, so it may be visible although the column ends beyond the
    # edge.
    assert 64 - int(said[1]) - page.eval_on_selector(".sq-lab-scroll", INSIDE) in (0, 1)
    page.evaluate("document.querySelector('.sq-lab-scroll').scrollLeft = 1e5")
    page.wait_for_timeout(50)
    settle(page)
    assert "to 64 of the 64 drawn" in page.inner_text(part("explain"))


@pytest.mark.parametrize("width", [1280, *nightly(1920)])
def test_no_cell_of_the_table_overruns_its_column(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    put(page, n=1024, shown="hand", hand=[-1, 0])
    over = page.evaluate(
        "[...document.querySelectorAll('.sq-lab-shapes :is(td, th)')].filter((cell) => "
        "cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"
    )
    assert over == []
    table = page.locator(".sq-lab-shapes").bounding_box()
    cell = page.locator("td[data-short]").bounding_box()
    assert cell["x"] + cell["width"] <= table["x"] + table["width"]
    assert page.inner_text("td[data-short]") == "2 of 1024 nodes drawn: not compared"


@pytest.mark.nightly
def test_a_vector_is_read_from_a_file(page: Page) -> None:
    page.click(part("paste"))
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open a file").click()
    chooser.value.set_files({"name": "rates.csv", "mimeType": "text/csv", "buffer": b"0.5,0.25"})
    page.wait_for_function(f"{STATE}.rates.length === 2")
    assert origin_of(page) == "imported rates.csv"


@pytest.mark.nightly
def test_trees_of_up_to_1024_nodes_stay_readable(page: Page) -> None:
    page.select_option(part("presets"), "paper")
    for n in (128, 512, 1024):
        put(page, n=n)
        took = page.evaluate(
            "async () => { const t = []; for (let i = 0; i < 5; i++) { const start = "
            "performance.now(); made.lab.editor.move(0, 0.6 + i / 50);  await new Promise(f => "
            "requestAnimationFrame(() => setTimeout(f))); t.push(performance.now() - start); } "
            "return t.sort((a, b) => a - b)[2]; }"
        )
        print(f"\n{n} nodes: {took:.0f} ms from a moved bar to a new picture")
        size = page.evaluate(
            "parseFloat(document.querySelector('.sq-lab-tree "
            ".sq-n-text').getAttribute('font-size'))"
        )
        assert size >= 9.5
    assert page.locator(".sq-lab-tree .sq-n:visible").count() < 300
    page.fill(part("find"), "1000")
    page.press(part("find"), "Enter")
    settle(page)
    assert node(page, 999).is_visible()
    expect(node(page, 999)).to_be_focused()


def zoom_at(page: Page, pill: Locator, times: int) -> tuple[float, float]:
    """Zoom in with the wheel, with the pointer on the middle of `pill`, a drawn node. Returns the
    pointer's position."""
    pill.scroll_into_view_if_needed()
    box = pill.bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    for _ in range(times):
        page.mouse.wheel(0, -150)
    page.keyboard.up("Control")
    settle(page)
    return x, y


@pytest.mark.nightly
def test_the_tree_is_zoomed_about_the_pointer_and_dragged(page: Page) -> None:
    """Guards against a zoom that jumps to a corner of the picture, and a drag that ends as a click
    on a node."""
    put(page, n=400)
    page.get_by_role("button", name="All nodes").click()
    page.get_by_role("button", name="Switch between the whole tree and a readable size").click()
    settle(page)
    box = page.locator(".sq-lab-scroll").bounding_box()
    tree = page.locator(".sq-lab-tree .sq-tree-svg").bounding_box()
    assert tree["height"] <= box["height"]
    pill = node(page, 30)
    zoom_at(page, pill, 2)  # now the picture is larger than its box, so that it can move
    before = pill.bounding_box()
    x, y = zoom_at(page, pill, 3)
    after = pill.bounding_box()
    assert after["height"] > 2 * before["height"]
    assert after["x"] <= x <= after["x"] + after["width"]
    assert abs(after["y"] + after["height"] / 2 - y) < after["height"]
    opened_before = page.evaluate("made.lab.tree.opened.size")
    page.mouse.down()
    page.mouse.move(x - 20, y - 40, steps=4)
    page.mouse.up()
    settle(page)
    moved = pill.bounding_box()
    assert (moved["x"] - after["x"], moved["y"] - after["y"]) == pytest.approx((-20, -40), abs=3)
    assert page.evaluate("made.lab.tree.opened.size") == opened_before


# -- saving and running a tree, terms, keyboard, looks, labels, figures ----------------------------


def saved(page: Page, form: str) -> str:
    with page.expect_download() as download:
        page.select_option(part("export"), form)
    return Path(download.value.path()).read_bytes().decode()


def test_saved_trees_are_as_in_python_and_can_be_read(page: Page) -> None:
    given = Acceptance((0.6, 0.2, 0.1))
    put(page, rates=list(given.rates), n=45)
    tree = best_tree(given, 45)
    assert Tree.from_json(saved(page, "json")) == tree
    assert json.loads(saved(page, "nodelink")) == to_node_link(tree)
    assert from_node_link(json.loads(saved(page, "nodelink"))) == tree
    assert json.loads(saved(page, "paths")) == to_paths(tree)
    assert from_paths(json.loads(saved(page, "paths"))) == tree
    rows = saved(page, "csv").split("\r\n")
    wanted = to_csv(tree, given).split("\r\n")
    assert rows[0] == wanted[0]
    for row, other in zip(rows[1:-1], wanted[1:-1], strict=True):
        assert list(map(float, row.split(","))) == pytest.approx(
            list(map(float, other.split(","))), abs=1e-12
        )
    picture = saved(page, "svg")
    assert picture.count("<text") == 45 + 1
    assert page.evaluate(
        "t => !new DOMParser().parseFromString(t, 'image/svg+xml').querySelector('parsererror')",
        picture,
    )


def test_a_branching_list_is_offered_only_where_the_tree_has_that_form(page: Page) -> None:
    put(
        page,
        n=29,
        kinds={"sequences": None, "kary": None, "branching": [4, 2, 2]},
        shown="branching",
    )
    assert (
        json.loads(saved(page, "branching"))
        == to_branching(Tree.from_branching([4, 2, 2]))
        == [4, 2, 2]
    )
    put(page, n=28)
    assert page.locator('option[value="branching"]').is_disabled()


def test_run_sends_the_tree_shown_in_breadth_first_order(page: Page) -> None:
    put(page, rates=[0.6, 0.2, 0.1], n=30)
    page.click(part("run"))
    name, data = page.evaluate("sent[sent.length - 1]")
    assert (name, Tree(tuple(data["parents"]))) == (
        "decode",
        best_tree(Acceptance((0.6, 0.2, 0.1)), 30),
    )
    page.evaluate("made.ingest({ most: 20 })")
    put(page, n=21)
    assert page.locator(part("run")).is_disabled()


@pytest.mark.nightly
def test_every_term_marked_as_explained_has_a_tooltip_that_opens_on_focus(page: Page) -> None:
    page.evaluate(
        "made.ingest({ measurable: true, ways: ['decode', 'levels', 'own', 'text'].map((key) => ({ "
        "key, label: key })), prompts: [{ key: 'code', label: 'code' }] })"
    )
    for way in ("levels", "own", "text", "decode"):
        page.select_option(part("count-way"), way)
        assert page.locator(".sq-term:not([data-term])").all_inner_texts() == []
    card = page.locator(".sq-explains")
    for word, says in (
        ("Loss", "lost compared with the best b"),
        ("Traceback", "splits off the last child"),
        ("expected", "1 for the root"),
        ("Limits", "a shape approaches"),
        ("Method", "16 children"),
        ("Medusa", "2401.10774"),
        ("top-p", "most probable"),
    ):
        term = page.get_by_role("button", name=word, exact=True).first
        term.focus()
        assert says in card.inner_text()
        assert says in page.locator("#" + term.get_attribute("aria-describedby")).text_content()
        box = card.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 1280
        page.keyboard.press("Escape")
        assert card.is_hidden()


TAB_STOPS = """() => [...document.querySelectorAll(
    '.sq-lab :is(a[href], button, input, select, textarea, [tabindex])')]
  .filter((node) => node.tabIndex >= 0 && !node.disabled && node.getClientRects().length).length"""


def test_the_lab_has_few_tab_stops_and_arrow_keys_reach_the_rest(page: Page) -> None:
    """Guards against a tab stop for each of 31 bars, 9 shapes and 30 terms."""
    page.evaluate("made.ingest({ measurable: true })")
    settle(page)
    page.locator(".sq-lab button").first.focus()
    stops = 1
    while stops < 60:
        page.keyboard.press("Tab")
        if page.evaluate("!document.activeElement.closest('.sq-lab')"):
            break
        stops += 1
    assert stops == page.evaluate(TAB_STOPS)
    assert stops <= 40
    page.locator(part("show-best")).focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(part("show-hand"))).to_be_focused()
    page.locator('.sq-lab-shapes [data-shape="best"] button').focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate(f"{STATE}.shown") == "fitted"


SMALL_TEXT = """() => { const found = new Set();
    const walker = document.createTreeWalker(document.querySelector('.sq-lab'), 4);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      const style = getComputedStyle(parent);
      if (!walker.currentNode.data.trim() || !parent.getClientRects().length) continue;
      if (style.visibility !== 'hidden' && parseFloat(style.fontSize) < 12)
        found.add(parent.getAttribute('class') + ' ' + style.fontSize);
    }
    return [...found]; }"""


@pytest.mark.parametrize("width", [390, *nightly(1024, 1280, 1920)])
def test_no_text_is_tiny_and_no_panel_is_cut(page: Page, width: int) -> None:
    page.goto(f"{address('lab')}?plotly={PLOTLY}")
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_selector(".sq-lab-curves .main-svg")
    settle(page)
    assert page.evaluate(SMALL_TEXT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cut = page.evaluate(
        "[...document.querySelectorAll('.sq-lab :is(.sq-panel-body, .sq-panel-head, .sq-lab-wide"
        ", .dp-legend)')].filter((box) => box.scrollWidth > box.clientWidth + 1 && "
        "getComputedStyle(box).overflowX !== 'auto').map((box) => box.className)"
    )
    assert cut == []


AXE = Path(__file__).parents[2] / ".ci/node_modules/axe-core/axe.min.js"
RULES = """() => axe.run('.sq-lab', { rules: { 'label-content-name-mismatch': { enabled: true } } })
  .then(({ violations }) => violations.map((one) => [one.id, one.nodes.map((node) => node.html)]))
"""


@pytest.mark.nightly
@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: run npm ci in .ci")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(page: Page, dark: bool) -> None:
    page.goto(f"{address('lab')}?plotly={PLOTLY}" + ("&dark" if dark else ""))
    page.wait_for_selector(".sq-lab-curves .main-svg")
    page.evaluate(
        "message => made.ingest({ ...message, measurable: true })", counted([0.5, 0.2], 40, "code")
    )
    settle(page)
    page.add_script_tag(path=AXE)
    assert page.evaluate(RULES) == []


@pytest.mark.nightly
def test_without_a_profile_nothing_is_predicted(page: Page) -> None:
    """Right after the page opens, the machine has not been timed yet."""
    page.evaluate("made.ingest({ profile: null })")
    put(page, n=20)
    page.wait_for_timeout(200)
    assert "has not been timed" in page.inner_text(part("tile-speedup"))
    assert page.inner_text(part("margin")).startswith("The last node adds")
    assert "once the models are loaded" in page.inner_text(part("plan"))


@pytest.mark.nightly
def test_the_limits_of_the_shapes_are_those_of_python(page: Page) -> None:
    """The limit of a shape: the expected tokens that it approaches as n grows. The best trees
    approach the tree in which every node has a child of every rank."""
    page.goto(f"{address('lab')}?plotly={PLOTLY}")
    page.wait_for_selector(".sq-lab-curves .main-svg")
    put(page, rates=[0.6, 0.2, 0.1], levels=None)
    note = page.locator(".sq-lab-curves .sq-lab-note")
    expect(note).to_contain_text("Sequoia 10.00; Chain 2.50")
    put(page, levels=4)
    expect(note).to_contain_text(f"Sequoia, ≤ 4 levels {1 + 0.9 + 0.81 + 0.729:.2f};")


def test_the_labels_say_where_figures_come_from(page: Page) -> None:
    words = page.locator(".sq-lab").inner_text().lower()
    for label in ("expected", "predicted", "paper", "simulated"):
        assert label in words


@pytest.mark.nightly
def test_the_figures_are_drawn_and_follow_light_and_dark(page: Page) -> None:
    page.goto(f"{address('lab')}?plotly={PLOTLY}")
    page.wait_for_selector(".sq-lab-curves .main-svg")
    colour = "getComputedStyle(document.querySelector('.sq-lab-curves .xtick text')).fill"
    light = page.evaluate(colour)
    page.evaluate("document.body.classList.add('dark')")
    page.wait_for_function(f"light => {colour} !== light", arg=light)
    assert (
        page.evaluate(
            "document.querySelector('.sq-lab-curves .js-plotly-plot')"
            ".data.find((one) => one.name.startsWith('Sequoia')).y.at(-1)"
        )
        > 8
    )


@pytest.mark.nightly
def test_a_tree_from_the_lab_runs_in_the_decode_view(visit: Callable[..., Page]) -> None:
    page = visit()
    page.wait_for_selector(".pg-status[data-stage=ready]", timeout=40_000)
    page.fill("#pg-tokens input", "24")
    page.get_by_role("tab", name="Lab").click()
    page.wait_for_selector(part("run"))
    page.wait_for_function(
        "document.querySelector('#lab-view .sq-lab').view.state.profile !== null", timeout=20_000
    )
    expect(page.locator(part("plan"))).to_contain_text("measured")
    page.evaluate("document.querySelector('#lab-view .sq-lab').view.state.set({ n: 13 })")
    wanted = page.evaluate(
        """async () => {
          const { modules } = await import(performance.getEntriesByType("resource")
            .find((one) => one.name.endsWith("/modules.js")).name);
          const { state } = document.querySelector("#lab-view .sq-lab").view;
          return modules["shared/planner"].canonical(state.parents);
        }"""
    )
    page.click(part("run"))
    page.wait_for_function(
        "(s => s.meta.label === 'measured' && s.done)"
        "(document.querySelector('#pg-view .sq-stage').view.store)",
        timeout=30_000,
    )
    assert page.evaluate("document.querySelector('#pg-view .sq-stage').view.store.steps.length") > 0
    assert (
        page.evaluate("document.querySelector('#pg-view .sq-stage').view.store.meta.tree.how")
        == "given node by node"
    )
    assert (
        page.evaluate(
            "(s => s.trees[s.steps[0].tree].parents)"
            "(document.querySelector('#pg-view .sq-stage').view.store)"
        )
        == wanted
    )


# -- acceptance, measured --------------------------------------------------------------------------


def counted(rates: list[float], visits: int, words: str, depths: int = 1) -> dict[str, Any]:
    """A count as the server sends it (ui/lab/tab.py), with the same rates at every depth."""
    accepted = [rate * visits for rate in rates]
    cells = [
        [depth, rank, visits, hits, *wilson(hits, visits)]
        for depth in range(depths)
        for rank, hits in enumerate(accepted)
    ]
    by_level = {
        "name": words,
        "label": "measured",
        "temperature": 0.6,
        "runs": 1,
        "depths": depths,
        "ranks": len(rates),
        "of": [depths, len(rates)],
        "cells": cells,
        "all": [cell[2:] for cell in cells[: len(rates)]],
        "holds": depths < 2,
        "doubtful": [1, 0],
        "sentence": "The positional assumption fails here.",
    }
    return {
        "count": {
            "result": {
                "rates": rates,
                "accepted": accepted,
                "visited": visits,
                "words": words,
                "temperature": 0.6,
                "top_p": 1,
                "unit": "roots",
                "by_level": by_level,
            }
        }
    }


@pytest.mark.nightly
def test_measuring_asks_for_way_prompts_and_a_typed_text(page: Page) -> None:
    """The visitor chooses how to measure, and chooses prompts or types a text. The page sends the
    choices to the server and shows the answer."""
    page.evaluate(
        "made.ingest({ measurable: true, ways: [{ key: 'decode', label: 'on-policy' },"
        " { key: 'own', label: 'teacher' }], prompts: [{ key: 'code', label: 'code' },"
        " { key: 'typed', label: 'your own text' }] })"
    )
    assert page.locator(part("count-text")).is_hidden()
    page.select_option(part("count-way"), "own")
    page.select_option(part("count-prompts"), "typed")
    page.fill(part("count-text"), "for x in")
    page.fill(part("count-temperature"), "0.3")
    page.click(part("measure"))
    assert page.evaluate("sent[sent.length - 1]") == [
        "count",
        {"temperature": "0.3", "top_p": "1", "prompts": "typed", "way": "own", "text": "for x in"},
    ]
    assert page.inner_text(part("measure")) == "Stop"
    page.evaluate("made.ingest({ count: { error: 'your text: too long' } })")
    assert refused(page, "count-text") == "Not measured: your text: too long."
    assert page.inner_text(part("measure")) == "Measure"
    page.click(part("measure"))
    assert page.locator(part("count-refused")).is_hidden()
    page.evaluate("made.ingest({ count: { share: 0, words: 'stopped', over: true } })")
    assert (page.inner_text(part("count-words")), page.inner_text(part("measure"))) == (
        "stopped",
        "Measure",
    )


@pytest.mark.nightly
def test_a_vector_is_called_measured_only_while_it_is_the_measured_one(page: Page) -> None:
    """Guards against the label "measured" on figures that a visitor changed: by key, by typing, by
    adding a rank, or by choosing another vector."""
    page.evaluate("message => made.ingest(message)", counted([0.5, 0.25], 40, "code"))
    assert origin_of(page) == "measured code"
    assert page.inner_text(part("count-words")) == "Last measurement: code; in use above."
    bar = page.locator('.sq-lab-bar[data-rank="1"]')
    changed = "edited by hand from measured: code Undo"
    bar.press("ArrowUp")
    assert (origin_of(page), page.inner_text(part("count-words"))) == (
        changed,
        "Last measurement: code; edited by hand since.",
    )
    say(page, "rate", "0.1")
    assert origin_of(page) == changed
    bar.press("ArrowDown")
    say(page, "rate", "0.25")
    assert origin_of(page) == "measured code"
    page.get_by_role("button", name="One rank more").click()
    assert origin_of(page) == changed
    page.get_by_role("button", name="Undo").click()
    assert (origin_of(page), rates(page)) == ("measured code", [0.5, 0.25])
    page.select_option(part("presets"), "paper")
    assert origin_of(page) == "paper arXiv 2402.12374, App. E"
    assert page.inner_text(part("count-words")) == "Last measurement: code; no longer in use."
    bar.press("ArrowUp")
    assert origin_of(page) == "edited by hand from paper: arXiv 2402.12374, App. E Undo"
    assert page.inner_text(part("count-words")) == "Last measurement: code; no longer in use."


@pytest.mark.nightly
def test_counts_are_shown_side_by_side_and_one_is_used_for_planning(page: Page) -> None:
    assert page.locator(part("counts")).is_hidden()
    for given, words, depths in (([0.5, 0.25], "code", 1), ([0.25, 0.125], "prose", 3)):
        page.evaluate("message => made.ingest(message)", counted(given, 40, words, depths))
        settle(page)
        assert rates(page) == given
    cards = page.locator(part("counted"))
    assert cards.count() == 2
    assert "measured" in cards.nth(0).inner_text().lower()
    assert [cards.nth(i).locator("td").count() for i in range(2)] == [2, 2 * 4]
    assert cards.nth(0).locator("td").nth(0).inner_text().split() == ["50%", "20/40"]
    assert "assumption fails" in cards.nth(1).inner_text()
    assert cards.nth(1).locator(".hw-doubt").count() == 1
    cards.nth(0).get_by_role("button", name="Use").click()
    settle(page)
    assert rates(page) == [0.5, 0.25]
    assert origin_of(page) == "measured code"
    cards.nth(0).get_by_role("button", name="Remove this measurement").click()
    assert page.locator(part("counted")).count() == 1
    page.evaluate(
        "message => { for (let i = 0; i < 12; i++) made.ingest(message); }",
        counted([0.5], 10, "many"),
    )
    assert page.locator(part("counted")).count() == 8


@pytest.mark.nightly
def test_a_count_of_models_that_were_replaced_is_hypothetical(page: Page) -> None:
    models = "pair => made.ingest({ measurable: true, pair, survey: { measured: [] } })"
    page.evaluate(models, "one")
    page.evaluate("message => made.ingest(message)", counted([0.5, 0.25], 40, "code"))
    assert page.evaluate(f"{STATE}.isHypothetical") is False
    page.evaluate(models, "two")
    page.locator(part("counted")).get_by_role("button", name="Use").click()
    settle(page)
    assert (rates(page), page.evaluate(f"{STATE}.isHypothetical")) == ([0.5, 0.25], True)


# -- what if, the opening, other shapes, undo, pictures, vectors -----------------------------------

SLOW = HardwareProfile(
    "a slow bus",
    "f",
    "t",
    "q",
    1,
    ((1, 2.0, 0.0),),
    ((1, 0.001, 0.0),),
    "recorded",
    "2026-02-02",
    ((1, 0.0, 0.0),),
)


@pytest.mark.nightly
def test_a_drawn_tree_is_predicted_for_another_machine(page: Page) -> None:
    """Guards against losing the tree when another profile is chosen."""
    page.evaluate(
        (
            "other => made.ingest({ profiles: [{ key: 'kept:x', name: 'offloading', label: '', "
            "note: '', profile: other }] })"
        ),
        json.loads(SLOW.to_json()),
    )
    put(page, rates=[0.6, 0.2, 0.1], hand=[-1, 0, 0, 1], shown="hand")
    before = page.inner_text(part("tile-speedup"))
    page.select_option(part("clock"), "kept:x")
    settle(page)
    assert page.evaluate(f"{STATE}.parents") == [-1, 0, 0, 1]
    assert page.inner_text(part("tile-speedup")) != before


@pytest.mark.nightly
def test_another_profile_chooses_another_tree_at_once_and_is_shown_as_not_measured_here(
    page: Page,
) -> None:
    here = page.evaluate(f"{STATE}.profile")
    page.evaluate(
        (
            "other => made.ingest({ profiles: [{ key: 'kept:x', name: 'offloading', note: 'flat', "
            "label: 'as on “offloading” (recorded)', profile: other }] })"
        ),
        json.loads(SLOW.to_json()),
    )
    put(page, rates=[0.6, 0.2, 0.1], n=10, levels=None)
    page.select_option(part("clock"), label="as on “offloading” (recorded)")
    settle(page)
    wanted = best_plan(Acceptance((0.6, 0.2, 0.1)), SLOW, slack=SLACK)
    assert Tree.from_parents(page.evaluate(f"{STATE}.parents")) == wanted.tree
    words = page.inner_text(part("clock-words"))
    assert "nothing was measured here" in words
    assert "recorded" in words
    assert "The tree shown is planned for that machine" in page.inner_text(part("plan"))
    page.evaluate(
        "other => made.ingest({ profiles: ["
        "{ key: 'new', name: 'new', label: 'new', profile: other }, "
        "{ key: 'kept:x', name: 'offloading', label: '', note: '', profile: other }] })",
        json.loads(SLOW.to_json()),
    )
    settle(page)
    assert page.input_value(part("clock")) == "kept:x"
    page.select_option(part("clock"), "here")
    settle(page)
    assert page.evaluate(f"{STATE}.profile") == here
    assert "measured here" not in page.inner_text(part("clock-words"))
    assert len(page.evaluate(f"{STATE}.parents")) < len(wanted.tree)
    page.select_option(part("clock"), "new")
    page.evaluate("made.ingest({ profiles: [] })")
    settle(page)
    assert (page.input_value(part("clock")), page.evaluate(f"{STATE}.profile")) == ("here", here)


@pytest.mark.nightly
def test_the_lab_opens_on_the_tree_that_decode_and_race_plan_and_follows_the_clock_chosen_in_decode(
    tab: Page,
) -> None:
    for page in opened(tab, "lab"):
        page.evaluate("started = modules.mountLab(document.querySelector('.sq-lab'), {})")
        fast = page.evaluate(
            "profile => { started.ingest({ profile, clock: '' }); return started.state.parents }",
            json.loads(SLOW.to_json()),
        )
        rates = page.evaluate("started.state.even")
        wanted = best_plan(Acceptance(tuple(rates)), SLOW, slack=SLACK)
        assert Tree.from_parents(fast) == wanted.tree
        flat = replace(SLOW, target_seconds=((1, 5.0, 0.0), (1024, 5.0, 0.0)), source="simulated")
        page.evaluate(
            "profile => started.ingest({ clock: 'flat', profiles: [{ key: 'flat', name: 'Flat',"
            " label: 'as on a Flat (simulated)', note: '', profile }] })",
            json.loads(flat.to_json()),
        )
        settle(page)
        assert page.input_value(part("clock")) == "flat"
        assert page.evaluate("started.state.n") > len(fast)
        page.select_option(part("clock"), "here")
        page.evaluate("started.ingest({ clock: 'flat' })")
        assert page.input_value(part("clock")) == "here"


@pytest.mark.nightly
def test_a_tree_is_offered_only_while_another_one_is_shown(page: Page) -> None:
    use = page.locator(part("plan")).get_by_role("button", name="Use this tree")
    in_table = page.locator(part("dp-use"))
    put(page, rates=[0.6, 0.2, 0.1], n=40, levels=None, shown="kary")
    expect(use).to_be_visible()
    expect(in_table).to_have_text("Use this tree")
    use.click()
    expect(use).to_be_hidden()
    expect(page.locator(part("plan"))).to_contain_text("The tree shown is planned")
    expect(in_table).to_have_text("This tree is in use")
    expect(in_table).to_be_disabled()
    put(page, shown="hand", hand=[-1, 0, 0])
    expect(use).to_be_visible()
    expect(in_table).to_be_enabled()
    expect(page.locator(part("plan"))).not_to_contain_text("The tree shown is planned")


@pytest.mark.nightly
def test_published_trees_have_their_original_size_and_can_be_resized(page: Page) -> None:
    """To make a published tree smaller, only its first nodes are kept. To make it larger, its
    leaves are extended as chains."""
    for name, size, levels, children in (("medusa", 64, 5, 10), ("eagle", 26, 6, 4)):
        given = page.evaluate("name => modules.PUBLISHED_TREES[name].parents", name)
        tree = Tree.from_parents(given)
        assert (len(tree), tree.levels, len(tree.children[0])) == (size, levels, children)
        for n in (1, 2, 20, size - 1, size, size + 1, 300):
            filled = page.evaluate("([n, given]) => modules.shapes.filled(n, given)", [n, given])
            Tree.from_parents(filled)
            assert len(filled) == n
            assert filled[:size] == given[:n]
            # beyond the published tree, every node has at most one child
            assert all(filled.count(node) < 2 for node in range(size, n))
    assert page.evaluate("modules.PUBLISHED_TREES.eagle.parents") == list(
        from_paths(
            [
                [int(rank) for rank in path]
                for path in page.evaluate("modules.PUBLISHED_TREES.eagle.paths").split()
            ]
        ).parents
    )
    sources = page.inner_text(part("sources"))
    for source in ("2401.10774", "2401.15077", "2305.09781", "dynamic tree"):
        assert source in sources


@pytest.mark.nightly
def test_undo_restores_the_tree_that_the_dp_tables_tree_replaced(page: Page) -> None:
    put(page, n=9, shown="hand", hand=[-1, 0, 0])
    page.wait_for_function("!document.querySelector('[data-part=dp-use]').disabled")
    page.click(part("dp-use"))
    settle(page)
    assert len(page.evaluate(f"{STATE}.hand")) == 9
    page.get_by_role("button", name="Undo").click()
    settle(page)
    assert page.evaluate(f"{STATE}.hand") == [-1, 0, 0]


PIXEL = """async address => {
  const bitmap = await createImageBitmap(await (await fetch(address)).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height),
      pen = canvas.getContext("2d");
    pen.drawImage(bitmap, 0, 0);
    return [bitmap.width, bitmap.height, ...pen.getImageData(2, 2, 1, 1).data]; }"""


def pixel(page: Page, file: Any) -> list[int]:
    """Width, height and the colour of a corner of a saved PNG."""
    data = Path(file.path()).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return page.evaluate(PIXEL, "data:image/png;base64," + base64.b64encode(data).decode())


@pytest.mark.nightly
@pytest.mark.parametrize("dark", [True, *nightly(False)])
def test_figures_are_saved_as_png_with_the_pages_background(page: Page, dark: bool) -> None:
    page.goto(f"{address('lab')}?plotly={PLOTLY}" + ("&dark" if dark else ""))
    page.wait_for_selector(".sq-lab-curves .main-svg")
    with page.expect_download() as saved_file:
        page.click('[data-part="curves"] [data-save="png"]')
    width, height, red, green, blue, alpha = pixel(page, saved_file.value)
    box = page.locator('[data-part="curves"] .hw-chart').bounding_box()
    assert width == pytest.approx(2 * box["width"], abs=4)
    assert height > 2 * box["height"] + 60  # the caption
    assert alpha == 255
    assert (max(red, green, blue) < 60) if dark else (min(red, green, blue) > 240)
    with page.expect_download() as saved_file:
        page.click('[data-part="curves"] [data-save="svg"]')
    assert saved_file.value.suggested_filename == "sequoia-curves.svg"


@pytest.mark.nightly
def test_a_saved_figure_says_where_its_numbers_come_from(page: Page) -> None:
    """The vector that the Lab opens with here is the paper's, and the times are not."""
    page.goto(f"{address('lab')}?plotly={PLOTLY}")
    page.wait_for_selector(".sq-lab-margins .main-svg")
    expect(page.locator(".sq-lab-flag")).to_be_visible()
    with page.expect_download() as saved_file:
        page.click('[data-part="margins"] [data-save="svg"]')
    picture = saved_file.value.path().read_text(encoding="utf-8")
    assert "Node n: gain vs. cost: hypothetical" in picture
    assert "acceptance: paper, arXiv 2402.12374, App. E" in picture
    assert "step times: " in picture


@pytest.mark.nightly
def test_the_table_is_saved_as_png(page: Page) -> None:
    page.evaluate("document.body.classList.add('dark')")
    settle(page)
    with page.expect_download() as saved_file:
        page.click('[data-part="dp"] [data-save="png"]')
    width, height, *colour = pixel(page, saved_file.value)
    box = page.locator("[data-part=dp-grid]").bounding_box()
    assert (width, height) == pytest.approx((2 * box["width"], 2 * box["height"]), abs=6)
    assert max(colour[:3]) < 90
    assert colour[3] == 255


@pytest.mark.nightly
def test_all_nodes_are_drawn_and_those_scrolled_to_have_text(page: Page) -> None:
    """Guards against pills that stay blank: pills get their text only when scrolled into view."""
    put(page, n=600)
    page.get_by_role("button", name="All nodes").click()
    settle(page)
    assert page.locator(".sq-lab-tree .sq-n").count() >= 600
    last = page.evaluate(
        "[...made.lab.tree.byNode.values()].reduce((low, item) => (item.row > low.row "
        "? item : low)).node"
    )
    assert node(page, last).locator("text").first.text_content() == ""
    page.evaluate("document.querySelector('.sq-lab-scroll').scrollTop = 1e6")
    page.wait_for_timeout(50)
    settle(page)
    wanted = page.evaluate("n => modules.formatShare(made.lab.tree.f[n])", last)
    assert node(page, last).locator("text").first.text_content() == wanted
    page.evaluate("made.lab.editor.move(0, 0.5)")
    settle(page)
    for number in (0, last):
        page.evaluate("n => made.lab.tree.goTo(n)", min(number, 599))
        page.wait_for_timeout(50)
        settle(page)
        words = (
            "root"
            if not number
            else page.evaluate("n => modules.formatShare(made.lab.tree.f[n])", number)
        )
        assert node(page, number).locator("text").first.text_content().split(" ")[0] == words


def test_a_tree_is_saved_as_png(page: Page) -> None:
    put(page, n=30)
    with page.expect_download() as saved_file:
        page.select_option(part("export"), "png")
    width, height, *colour = pixel(page, saved_file.value)
    assert width > 400
    assert height > 200
    assert colour == [255, 255, 255, 255]


def test_the_lab_starts_with_the_vectors_that_the_other_tabs_use(page: Page) -> None:
    """Guards against a best tree that differs from that of the other tabs. Those tabs plan with
    fitted vectors, so each fitted vector is offered before the counted vector of the same
    measurement."""
    survey = json.loads((BUNDLED_PAIR / "acceptance.json").read_text(encoding="utf-8"))
    offered = page.evaluate("survey => modules.vectors.recorded(survey)", survey)
    planned_with = {
        (one.kind, one.temperature): list(one.acceptance.rates)
        for one in recorded_acceptances(BUNDLED_PAIR / "acceptance.json")
    }
    pairs = zip(offered[::2], offered[1::2], strict=True)
    for row, (first, second) in zip(survey["measured"], pairs, strict=True):
        assert first["rates"] == planned_with[row["kind"], row["temperature"]]
        assert second["rates"] == row["rates"]
        nodes = row["fitted"]["nodes"]
        assert (
            f"prediction for a tree of {nodes} nodes agrees with the measured tokens per step"
            in first["origin"]["words"]
        )
        assert second["origin"]["visited"] == row["visited"]
