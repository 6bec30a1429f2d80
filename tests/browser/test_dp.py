"""The Lab's DP table (the dynamic programming that finds the best tree) in a real Chromium. It is
compared with sequoia.algorithm.best_tree cell by cell. The app does not run: the test page comes
from a plain file server."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from view_pages import opened, settle

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import DPTable, dp_table
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.algorithm.tree import Tree
from sequoia.planning.paper_results import paper_acceptance

APP_E = paper_acceptance()
EXACT = 1e-9


@pytest.fixture
def page(tab: Any) -> Iterator[Any]:
    """The test page at n = 75, 8 levels."""
    yield from opened(tab, "dp")


def press(page: Any, part: str, *keys: str) -> None:
    page.locator(f"[data-part={part}]").focus()
    for key in keys:
        page.keyboard.press(key)
    settle(page)


def sentence(page: Any) -> str:
    return page.locator("[data-part=dp-sentence]").inner_text()


def give(page: Any, **state: Any) -> None:
    page.evaluate("more => { Object.assign(state, more); dp.update(); }", state)
    settle(page)


def explanation(table: DPTable, n: int, levels: int, b: int) -> str:
    """What the page must say of a cell, computed with Python's `DPTable.split`."""
    split = table.split(n, levels, b)
    rate = (
        "0"
        if not split.rate
        else f"{split.rate:.3f}"
        if split.rate >= 0.0095
        else f"{float(f'{split.rate:.2g}'):g}"
    )
    return (
        f"T[{n},{levels},{b}] = T[{n - split.nodes},{levels},{b - 1}] ({split.rest:.3f}) + a[{b}] "
        f"({rate}) × best({split.nodes},{levels - 1}) ({split.below:.3f}) = "
        f"{table.value(n, levels, b):.3f}"
    )


def vector(rng: random.Random) -> list[float]:
    """A random acceptance vector. It may have zeros, ties and increases."""
    weights = [rng.choice([0.0, 0.25, rng.random()]) for _ in range(rng.randint(1, 12))]
    share = rng.choice([1.0, rng.random()]) / (sum(weights) or 1.0)
    return [w * share * (1 - 1e-12) for w in weights]


# -- the numbers -----------------------------------------------------------------------------------

READ = """cases => cases.map(([rates, nodes, levels]) => {
  const table = new modules.DpTable(rates, nodes), cells = [];
  for (let n = 1; n <= nodes; n++) for (let l = 1; l <= levels; l++) for (let b = 0; b < n; b++) {
    const split = table.split(n, l, b), value = table.value(n, l, b);
    cells.push([n, l, b, value === -Infinity ? null : value,
                split && [split.m, split.branches, split.rest, split.rate, split.below]]);
  }
  const best = table.best(nodes, levels);
  return {cells, best, parents: table.trace(nodes, levels, best.branches)?.parents ?? null};
})"""


def test_every_cell_and_split_is_the_planners(page: Any) -> None:
    """Guards against errors in the browser's recurrence: an index off by one, a wrong level, ties
    broken differently, more children than the vector has rates. Uses 24 fixed vectors, some with
    zeros or rising rates, and low level caps."""
    rng = random.Random(11)
    cases = [(vector(rng), rng.randint(2, 26), rng.randint(2, 7)) for _ in range(24)]
    for (rates, nodes, levels), found in zip(cases, page.evaluate(READ, cases), strict=True):
        acceptance = Acceptance(tuple(rates))
        table = dp_table(acceptance, nodes, levels)
        for n, level, b, value, split in found["cells"]:
            truth = table.value(n, level, b)
            assert (value is None) == (truth == float("-inf")), (rates, n, level, b)
            if value is None or b == 0:
                assert split is None
                continue
            assert value == pytest.approx(truth, abs=EXACT)
            expected = table.split(n, level, b)
            assert split[:2] == [expected.nodes, expected.branches], (rates, n, level, b)
            assert split[2:] == pytest.approx(
                [expected.rest, expected.rate, expected.below], abs=EXACT
            )
        tree = Tree(tuple(found["parents"]))
        assert len(tree) == nodes
        assert tree.levels <= levels
        assert len(tree.children[0]) == found["best"]["branches"]
        assert expected_tokens(tree, acceptance) == pytest.approx(
            table.best(nodes, levels)[0], abs=EXACT
        )


# -- the cell in words -----------------------------------------------------------------------------


def test_the_keyboard_walks_the_table_and_every_sentence_is_true(page: Any) -> None:
    """After each key press, the sentence and its operands are those that Python computes."""
    table = dp_table(APP_E, 128, 12)
    best = table.best(75, 8)[1]
    assert sentence(page) == explanation(table, 75, 8, best)
    steps = [
        ("ArrowDown", (75, 8, best + 1)),
        ("ArrowRight", (76, 8, best + 1)),
        ("Shift+ArrowRight", (86, 8, best + 1)),
        ("PageUp", (86, 9, best + 1)),
        ("PageDown", (86, 8, best + 1)),
        ("ArrowUp", (86, 8, best)),
        ("ArrowLeft", (85, 8, best)),
        ("b", (85, 8, table.best(85, 8)[1])),
    ]
    for key, cell in steps:
        press(page, "dp-grid", key)
        assert sentence(page) == explanation(table, *cell), key
        assert (
            page.locator("[data-part=dp-live]").inner_text().startswith(explanation(table, *cell))
        )
    assert page.locator("[data-part=dp-levels]").input_value() == "8"


def test_the_cell_follows_the_labs_tree_until_levels_are_chosen(page: Any) -> None:
    """Guards against a table that keeps the levels of the previous vector and explains a
    different tree from the one drawn."""
    for rates in ([0.45, 0.4], [0.95, 0.02]):
        give(page, rates=rates, n=30, levels=None)
        deep = page.evaluate("dp.table.levels")
        table = dp_table(Acceptance(tuple(rates)), 30, deep)
        value, branches = table.best(30, deep)
        assert value == pytest.approx(
            dp_table(Acceptance(tuple(rates)), 30, 30).best(30, 30)[0], abs=EXACT
        )
        assert sentence(page) == explanation(table, 30, deep, branches)
    page.locator("[data-part=dp-levels]").fill("5")
    give(page, rates=[0.9, 0.05])
    assert page.evaluate("dp.cell.levels") == 5


def test_a_tree_larger_than_the_table(page: Any) -> None:
    """The table then opens at its last column, in view, and says where it stops."""
    limit = page.locator(".dp-limit")
    assert limit.is_hidden()
    give(page, n=600, levels=None)
    assert "256 nodes" in limit.inner_text()
    assert page.evaluate("dp.cell.n") == 256
    assert page.locator("[data-part=dp-grid]").evaluate(
        "box => box.scrollWidth > box.clientWidth &&"
        " Math.abs(box.scrollLeft + box.clientWidth - dp.grid.x(257)) < 2"
    )


def test_enter_pins_a_cell(page: Any) -> None:
    """Without a pin, the pointer selects the cell; with a pin, it does not."""
    box = page.locator("[data-part=dp-grid]").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 100)
    settle(page)
    pointed = sentence(page)
    assert not pointed.startswith("T[75,8,")
    press(page, "dp-grid", "Enter")
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 200)
    settle(page)
    assert sentence(page) == pointed
    press(page, "dp-grid", "Escape")
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 205)
    settle(page)
    assert sentence(page) != pointed


# -- the tree, the traceback and bad vectors -------------------------------------------------------


def test_the_traceback_is_walked_cell_by_cell(page: Any) -> None:
    """Checks that each step of the walk shows the recurrence of its own cell, that the two parts of
    the picture have as many nodes as the cell says, and that the steps together give every node its
    parent. The last keys are pressed without waiting for a frame."""
    table = dp_table(APP_E, 128, 8)
    give(page, n=24, levels=6)
    seen = set()
    for i in range(23):
        step = page.evaluate("""() => { const {step} = dp.shown(),
          parts = modules.dpPartition(dp.topo, step);
          return {...step, rest: parts.filter(p => p === 'rest').length,
            below: parts.filter(p => p === 'below').length}; }""")
        cell = step["cell"]
        assert sentence(page) == explanation(table, cell["n"], cell["levels"], cell["b"])
        assert (step["rest"], step["below"]) == (cell["n"] - step["split"]["m"], step["split"]["m"])
        assert page.locator(".dp-step[aria-selected=true]").inner_text().split()[:2] == [
            str(i + 1),
            f"T[{cell['n']},{cell['levels']},{cell['b']}]",
        ]
        seen.add((step["parent"], step["node"]))
        press(page, "dp-walk", "ArrowDown")
    parents = table.tree(24, 6).parents
    assert seen == {(parent, node) for node, parent in enumerate(parents) if node}
    press(page, "dp-walk", "Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft")
    assert "step 3 of 23" in page.locator(".dp-place").inner_text()


def test_the_tree_is_handed_over(page: Any) -> None:
    """The button gives the tree's parents to the Lab. They are the same as Python's."""
    table = dp_table(APP_E, 75, 8)
    page.locator("[data-part=dp-use]").click()
    settle(page)
    # the Lab's tree may be scrolled away, so the button says that this tree is now used there
    assert page.locator("[data-part=dp-use]").inner_text() == "This tree is in use"
    assert page.locator("[data-part=dp-use]").is_disabled()
    (chosen,) = page.evaluate("chosen")
    assert chosen == list(table.tree(75, 8).parents)
    value, _ = table.best(75, 8)
    assert (
        page.locator("[data-part=dp-tree-title]").inner_text()
        == f"75 nodes on 8 levels, {value:.3f} tokens per step"
    )


@pytest.mark.parametrize(
    ("rates", "words"),
    [([0.7, 0.4], "1.1"), ([0.5, "x"], "x")],
)
def test_a_bad_vector_is_refused_and_the_table_stays(
    page: Any, rates: list[Any], words: str
) -> None:
    """Guards against a panel that goes blank, or computes with an invalid vector."""
    before = sentence(page)
    give(page, rates=rates)
    assert words in page.locator("[data-part=dp-error]").inner_text()
    assert sentence(page) == before
    give(page, rates=[0.5, 0.2])
    assert page.locator("[data-part=dp-error]").is_hidden()
    table = dp_table(Acceptance((0.5, 0.2)), 75, 8)
    assert sentence(page) == explanation(table, 75, 8, table.best(75, 8)[1])
