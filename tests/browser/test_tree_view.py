"""The tree view alone, on plain data, without a run or a step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect
from view_pages import opened, settle

PARENTS = [-1, 0, 0, 1, 1, 2]
STATES = ["root", "accepted", "rejected", "untested", "never", "never"]
BUILD = """([look, states]) => {
  const { topology } = modules.treeLayout;
  const host = document.createElement("div");
  host.className = "sq-stage";
  host.style.cssText = "position: fixed; inset: 0; z-index: 9; background: white";
  document.body.append(host);
  const box = document.createElement("div");
  box.className = "sq-tree-split";
  box.style.cssText = "position: relative; height: 400px";
  host.append(box);
  window.acted = [];
  const note = (name) => (key) => (acted.push([name, key]), null);
  const actions = { changed: () => window.view.draw(window.view.scene), scrolled: () => {},
    hover: note("hover"), press: note("press"), focus: note("focus"),
    name: (key) => "cell " + key };
  const view = new modules.TreeView(box, look, look.still || look.dots ? undefined : actions);
  window.view = view;
  const topo = topology(%s);
  window.scene = (wanted) => ({ cells: modules.allCells(topo), rows: topo.rows, cols: topo.levels,
    looks: wanted.map((state, node) => ({ state, label: "w" + node })), home: "n1" });
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
    view.draw(scene(states)); done(); })));
}""" % str(PARENTS)  # noqa: UP031
PILLS = {"cls": "sq-tree-scroll"}


@pytest.fixture
def page(tab: Any) -> Iterator[Any]:
    """The empty test page."""
    yield from opened(tab, "run")


def build(page: Any, look: dict[str, Any], states: list[str] = STATES) -> None:
    page.evaluate(BUILD, [look, states])
    settle(page)


def test_arrows_walk_the_drawn_nodes(page: Any) -> None:
    """The right arrow moves the focus to the first child, left to the parent, up and down to the
    nearest node in that direction. Hidden nodes are skipped. The Tab key reaches only one node."""
    build(page, PILLS, [*STATES[:3], "hidden", *STATES[4:]])
    assert page.evaluate("view.svg.querySelectorAll('[tabindex=\"0\"]').length") == 1
    page.evaluate("view.focus('n0')")
    at = "document.activeElement.dataset.key"
    for key, wanted in (
        ("ArrowRight", "n1"),
        ("ArrowRight", "n4"),
        ("ArrowDown", "n5"),
        ("ArrowLeft", "n2"),
        ("ArrowUp", "n1"),
        ("ArrowLeft", "n0"),
        ("ArrowLeft", "n0"),
    ):
        page.keyboard.press(key)
        assert page.evaluate(at) == wanted
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "cell n0"
    page.keyboard.press("Enter")
    assert ["press", "n0"] in page.evaluate("acted")
    page.wait_for_function(at + " === 'n1'")  # Enter moves the focus to the scene's home


def test_a_nodes_numbers_are_bars_and_digits_where_one_points(page: Any) -> None:
    build(page, {**PILLS, "numbers": ["q", "p"]})
    page.evaluate("""() => {
      const numbered = scene([...view.scene.looks.map(({ state }) => state)]);
      numbered.looks[1].numbers = [0.5, 0.25];
      view.draw(numbered);
    }""")
    node = page.locator(".sq-n[data-key=n1]")
    lengths = "g => ['q', 'p'].map(s => g.querySelector(`[data-which=${s}]`).getTotalLength())"
    drafted, targeted = node.evaluate(lengths)
    assert drafted == pytest.approx(2 * targeted, abs=0.2)
    page.mouse.move(0, 0)
    expect(node.locator(".sq-n-sub")).to_be_hidden()
    node.locator("rect").hover(force=True)
    expect(node.locator(".sq-n-sub")).to_be_visible()
    expect(node.locator(".sq-n-sub")).to_have_text(re.compile("^q=0.5"))


@pytest.mark.parametrize(
    "look", [{"cls": "sq-tree-whole", "dots": STATES[:5]}, {**PILLS, "still": True}]
)
def test_a_picture_has_no_tab_stop(page: Any, look: dict[str, Any]) -> None:
    """A view without actions is only a picture. It is no wider than its box."""
    build(page, look)
    assert page.evaluate("view.svg.querySelectorAll('[tabindex=\"0\"]').length") == 0
    assert page.evaluate("view.scroller.clientWidth") >= page.evaluate("view.frame.width")
