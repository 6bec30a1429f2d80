"""The Lab in a real Chromium: its results compared with Python's, and what a visitor drags, types,
draws and saves.

The test page comes from a plain file server. Only the test of running a tree uses the app.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import made_profile
from playwright.sync_api import Page, expect
from run_form import enter, ready, store, until
from running_app import open_view
from tree_files import (
    from_node_link,
    to_node_link,
    to_paths,
)
from view_pages import opened, part, settle

from sequoia import Acceptance, HardwareProfile, Tree, best_plan, best_tree
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.algorithm.tree_formats import from_paths
from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.loading.load import recorded_acceptances
from sequoia.measuring.counted_acceptance import wilson
from sequoia.measuring.defaults import SLACK
from sequoia.planning.plan_for_machine import Plan, bounds
from sequoia.planning.simulated_step_times import step_seconds

STATE = "made.state"
P = "modules.planner"


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """The test page, with the rarely used controls unfolded."""
    for page in opened(tab, "lab"):
        unfold(page)
        yield page


def unfold(page: Page) -> None:
    page.eval_on_selector_all(part("more"), "all => all.forEach((fold) => (fold.open = true))")
    settle(page)


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


def answer(plan: Plan) -> str:
    """The size and speed-up of a tree as the page words them."""
    size = f"{len(plan.tree)} nodes in {plan.tree.levels} levels"
    return f"{size}: {plan.predicted_speedup:.2f}×"


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

    return made_profile(
        target_seconds=points(0.01),
        draft_seconds=points(0.001),
        overhead_seconds=points(0.0004),
        level_overhead=rng.uniform(0, 0.001),
    )


def test_times_and_plans_are_as_in_python(page: Page) -> None:
    rng = random.Random(3)
    for given in vectors(15):
        times = profile(rng)
        grown = [-1, *(rng.randrange(i) for i in range(1, 70))]
        data = json.loads(times.to_json())
        seconds, plan, levels = page.evaluate(
            (
                f"([p, r, parents]) => [{P}.stepSeconds(parents, p), {P}.bestPlan(r, p, 80), "
                f"{P}.levelsFor(80)]"
            ),
            [data, given, grown],
        )
        assert seconds == pytest.approx(step_seconds(Tree.from_parents(grown), times), abs=1e-12)
        wanted = best_plan(Acceptance(tuple(given)), times, 80, levels, SLACK)
        assert plan["parents"] == list(wanted.tree.parents)
        assert plan["speedup"] == pytest.approx(wanted.predicted_speedup, abs=1e-9)
        fastest = best_plan(Acceptance(tuple(given)), times, 80, levels)
        assert plan["fastest"] == pytest.approx(fastest.predicted_speedup, abs=1e-9)


@pytest.mark.parametrize("last", [1, 2000])
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


def test_saved_vectors_are_read_by_python(page: Page) -> None:
    page.select_option(part("presets"), "peaked")
    with page.expect_download() as saved:
        page.click('[data-part="acceptance"] button:has-text("Save")')
    assert Acceptance.from_json(Path(saved.value.path()).read_text()) == Acceptance(
        (0.9, 0.04, 0.02, 0.01)
    )


# -- the tree, files, and the table of shapes ------------------------------------------------------


def test_a_budget_out_of_bounds_is_refused(page: Page) -> None:
    before = page.evaluate(f"[{STATE}.n, {STATE}.levels]")
    for field, value, bound in (
        ("n", "1025", "1 to 1024"),
        ("n", "2.5", "1 to 1024"),
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


def test_a_tree_is_pasted_and_one_that_is_none_is_refused(page: Page) -> None:
    why = "parents: node 2 is wrong"
    page.evaluate(
        "([tree, why]) => { window.readings = { tree: { parents: tree }, wrong: { refused: why } }; }",
        [[-1, 0, 0, 0, 1], why],
    )
    page.click(part("show-hand"))
    page.click(part("paste-tree"))
    page.fill(part("tree-sheet"), "tree")
    page.click(part("use-tree"))
    settle(page)
    assert page.evaluate(f"{STATE}.hand") == [-1, 0, 0, 0, 1]
    assert page.locator(part("tree-sheet")).is_hidden()
    page.click(part("paste-tree"))
    page.fill(part("tree-sheet"), "wrong")
    page.click(part("use-tree"))
    settle(page)
    assert why + "; nothing was changed" in refused(page, "tree-sheet")
    assert page.evaluate(f"{STATE}.hand") == [-1, 0, 0, 0, 1]
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Undo").first.click()
    settle(page)
    assert page.evaluate(f"{STATE}.hand") == [-1]


def test_a_vector_is_read_from_a_file(page: Page) -> None:
    page.click(part("paste"))
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open a file").click()
    chooser.value.set_files({"name": "rates.csv", "mimeType": "text/csv", "buffer": b"0.5,0.25"})
    page.wait_for_function(f"{STATE}.rates.length === 2")
    assert origin_of(page) == "imported rates.csv"


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
    picture = saved(page, "svg")
    assert picture.count("<text") == 45 + 1
    assert page.evaluate(
        "t => !new DOMParser().parseFromString(t, 'image/svg+xml').querySelector('parsererror')",
        picture,
    )


def test_the_answer_follows_acceptance_and_machine(page: Page) -> None:
    put(page, n=None)
    fast, slow = (
        replace(SLOW, target_seconds=((1, 0.02, 0.0), (128, most, 0.0))) for most in (0.03, 0.2)
    )
    for given, machine in (([0.6, 0.2, 0.1], fast), ([0.5, 0.3], fast), ([0.5, 0.3], slow)):
        put(page, rates=given, profile=json.loads(machine.to_json()))
        wanted = best_plan(Acceptance(tuple(given)), machine, slack=SLACK)
        assert page.inner_text(part("best")) == f"{answer(wanted)} plain decoding"
        assert Tree.from_parents(page.evaluate(f"{STATE}.parents")) == wanted.tree
    put(page, n=40)
    assert page.inner_text(part("best")).startswith("40 nodes in ")
    assert answer(wanted).split(": ")[1] in page.inner_text(part("why"))
    assert page.inner_text(part("run")) == "Run the tree shown"
    page.click(part("show-best"))
    settle(page)
    assert Tree.from_parents(page.evaluate(f"{STATE}.parents")) == wanted.tree
    assert page.inner_text(part("run")) == "Run it"


TAB_STOPS = """() => [...document.querySelectorAll(
    '.sq-lab :is(a[href], button, input, select, textarea, summary, [tabindex])')]
  .filter((node) => node.tabIndex >= 0 && !node.disabled && node.checkVisibility()).length"""


def test_the_lab_has_few_tab_stops_and_arrow_keys_reach_the_rest(page: Page) -> None:
    """Guards against a tab stop for each of 31 bars, 9 shapes and 30 terms."""
    page.evaluate("made.take({ measurable: true })")
    settle(page)
    page.locator(".sq-lab button").first.focus()
    stops = 1
    while stops < 60:
        page.keyboard.press("Tab")
        if page.evaluate("!document.activeElement.closest('.sq-lab')"):
            break
        stops += 1
    assert stops == page.evaluate(TAB_STOPS)
    assert stops <= 45
    page.locator(part("show-best")).focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(part("show-hand"))).to_be_focused()
    page.locator('.sq-lab-shapes [data-shape="best"] button').focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate(f"{STATE}.shown") == "fitted"


def test_a_tree_from_design_runs_in_run_beside_plain_decoding(visit: Callable[..., Page]) -> None:
    page = visit()
    ready(page)
    enter(page, tokens=24)
    open_view(page, "Tree")
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
    until(page, "s.meta.label === 'measured' && s.done", 60)
    assert store(page, "s.lanes.map(({ about }) => about.request[0])") == ["lab", "plain"]
    assert store(page, "s.trees[s.steps[0].tree].parents") == wanted
    open_view(page, "Tree")
    expect(page.locator(part("measured"))).to_contain_text("measured: ")


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


def test_measuring_asks_for_way_prompts_and_a_typed_text(page: Page) -> None:
    """The visitor chooses how to measure, and chooses prompts or types a text. The page sends the
    choices to the server and shows the answer."""
    page.evaluate(
        "made.take({ measurable: true, ways: [{ key: 'decode', label: 'on-policy' },"
        " { key: 'own', label: 'teacher' }], prompts: [{ key: 'code', label: 'code' },"
        " { key: 'typed', label: 'your own text' }] })"
    )
    page.click(f"{part('counting')} summary")
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
    page.evaluate("made.take({ count: { error: 'your text: too long' } })")
    assert refused(page, "count-text") == "Not measured: your text: too long."
    assert page.inner_text(part("measure")) == "Measure"
    page.click(part("measure"))
    assert page.locator(part("count-refused")).is_hidden()
    page.evaluate("made.take({ count: { share: 0, words: 'stopped', over: true } })")
    assert (page.inner_text(part("count-words")), page.inner_text(part("measure"))) == (
        "stopped",
        "Measure",
    )


def test_a_vector_is_called_measured_only_while_it_is_the_measured_one(page: Page) -> None:
    """Guards against the label "measured" on figures that a visitor changed: by key, by typing, by
    adding a rank, or by choosing another vector."""
    page.evaluate("message => made.take(message)", counted([0.5, 0.25], 40, "code"))
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


def test_a_count_of_models_that_were_replaced_is_hypothetical(page: Page) -> None:
    models = "pair => made.take({ measurable: true, pair, survey: { measured: [] } })"
    page.evaluate(models, "one")
    page.evaluate("message => made.take(message)", counted([0.5, 0.25], 40, "code"))
    assert page.evaluate(f"{STATE}.isHypothetical") is False
    page.evaluate(models, "two")
    page.locator(part("counted")).get_by_role("button", name="Use").click()
    settle(page)
    assert (rates(page), page.evaluate(f"{STATE}.isHypothetical")) == ([0.5, 0.25], True)


# -- what if, the opening, other shapes, undo, pictures, vectors -----------------------------------

SLOW = made_profile(
    target_seconds=((1, 2.0, 0.0),),
    draft_seconds=((1, 0.001, 0.0),),
    overhead_seconds=((1, 0.0, 0.0),),
    source="recorded",
)


def test_another_profile_chooses_another_tree_at_once_and_is_shown_as_not_measured_here(
    page: Page,
) -> None:
    here = page.evaluate(f"{STATE}.profile")
    page.evaluate(
        (
            "other => made.take({ profiles: [{ key: 'kept:x', name: 'offloading', note: 'flat', "
            "label: 'as on “offloading” (recorded)', profile: other }] })"
        ),
        json.loads(SLOW.to_json()),
    )
    put(page, rates=[0.6, 0.2, 0.1], n=None)
    page.select_option(part("clock"), label="as on “offloading” (recorded)")
    settle(page)
    wanted = best_plan(Acceptance((0.6, 0.2, 0.1)), SLOW, slack=SLACK)
    assert Tree.from_parents(page.evaluate(f"{STATE}.parents")) == wanted.tree
    words = page.inner_text(part("clock-words"))
    assert "nothing was measured here" in words
    assert "recorded" in words
    assert page.inner_text(part("basis")) == "hypothetical"
    assert page.inner_text(part("best")) == f"{answer(wanted)} plain decoding"
    page.evaluate(
        "other => made.take({ profiles: ["
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
    page.evaluate("made.take({ profiles: [] })")
    settle(page)
    assert (page.input_value(part("clock")), page.evaluate(f"{STATE}.profile")) == ("here", here)


def test_a_saved_figure_says_where_its_numbers_come_from(page: Page) -> None:
    """The vector that the Lab opens with here is the paper's, and the times are not."""
    page.wait_for_selector(".sq-lab-margins .main-svg")
    expect(page.locator(part("basis"))).to_have_text("hypothetical")
    with page.expect_download() as saved_file:
        page.click('[data-part="margins"] [data-save="svg"]')
    picture = saved_file.value.path().read_text(encoding="utf-8")
    assert "Node n: gain vs. cost: hypothetical" in picture
    assert "acceptance: paper, arXiv 2402.12374, App. E" in picture
    assert "step times: " in picture


def test_a_tree_is_saved_as_png(page: Page) -> None:
    put(page, n=30)
    with page.expect_download() as saved_file:
        page.select_option(part("export"), "png")
    assert saved_file.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


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
        assert f"fitted to a measured tree of {nodes} nodes" in first["origin"]["words"]
        assert second["origin"]["visited"] == row["visited"]
