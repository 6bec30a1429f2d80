"""On paper: the result in its colours and at full width, without forms and controls."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

# what is drawn on paper but lies outside its box, as "class: height/needed, width/needed"
CUT = """view => {
  const whole = (node) =>
    node.scrollHeight <= node.clientHeight + 2 && node.scrollWidth <= node.clientWidth + 2;
  const found = [...view.querySelectorAll(".sq-text-box, .sq-tree-scroll, .hw-chart, .sq-panel")];
  return found
    .filter((node) => node.offsetParent && !whole(node))
    .map((node) => `${node.className}: ${node.clientHeight}/${node.scrollHeight}, ` +
      `${node.clientWidth}/${node.scrollWidth}`);
}"""

# what is drawn beyond the right edge of its panel, where it covers something else or is cut
OUTSIDE = """view => {
  const right = (node) => node.getBoundingClientRect().right;
  const found = [...view.querySelectorAll(".sq-tree-svg, .sq-col, .sq-track-svg")];
  return found
    .filter((node) => node.checkVisibility())
    .filter((node) => right(node) > right(node.closest(".sq-tree-split, .sq-track")) + 2)
    .map((node) => node.className.baseVal ?? node.className);
}"""


def test_texts_trees_and_charts_are_printed_whole(visit: Callable[..., Page]) -> None:
    page = visit()  # the form takes room on screen, but not on paper
    expect(page.locator("#pg-view .sq-text-box").first).to_be_visible()
    page.click("#pg-view .run-analysis > summary")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    view = page.locator("#pg-view")
    expect(view.locator(".sq-tree-svg .sq-n").first).to_be_visible()
    assert view.evaluate(CUT) == []
    assert view.locator(".sq-stage").evaluate("node => node.getBoundingClientRect().right") < 1281
    assert view.evaluate(OUTSIDE) == []
