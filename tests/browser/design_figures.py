"""How much each view shows on its first screen."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page, sync_playwright
from running_app import CHROMIUM, FLAGS, PLACES, App, Visit, open_view

SMALL = 13  # px; type of this size or less is small
DRAWN = 4000  # ms until a view that was opened shows its charts
# The words and controls in view: inside the window and inside every box that clips them.
IN_VIEW = """small => {
  const clips = new Map();
  const boxOf = (node) => {
    if (!node) return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    if (clips.has(node)) return clips.get(node);
    const { left, top, right, bottom } = boxOf(node.parentElement);
    const own = node.getBoundingClientRect();
    const { overflow, clipPath } = getComputedStyle(node);
    if (clipPath === "inset(50%)") return { left: 0, top: 0, right: 0, bottom: 0 };
    const cut = /^inset\\(0(?:px)? ([\\d.]+)%/.exec(clipPath)?.[1];
    const edge = cut && (node.ownerSVGElement ?? node).getBoundingClientRect();
    const box = overflow === "visible" || node === document.body
      ? { left, top, right: cut ? edge.right - (edge.width * cut) / 100 : right, bottom }
      : { left: Math.max(left, own.left), top: Math.max(top, own.top),
          right: Math.min(right, own.right), bottom: Math.min(bottom, own.bottom) };
    clips.set(node, box);
    return box;
  };
  const isSeen = (box, node) => {
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    const { left, top, right, bottom } = boxOf(node);
    return box.width > 1 && x > left && x < right && y > top && y < bottom &&
      node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const found = { words: 0, small: 0, controls: 0 };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const [node, parent] = [walker.currentNode, walker.currentNode.parentElement];
    if (!parent.getBoundingClientRect().width) continue; // text of a drawing that is not shown
    const size = parseFloat(getComputedStyle(parent).fontSize) * (parent.getScreenCTM?.()?.a ?? 1);
    for (const word of node.data.matchAll(/\\S+/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (!isSeen(range.getBoundingClientRect(), parent)) continue;
      found.words++;
      if (size <= small) found.small++;
    }
  }
  const controls = "a[href], button, input, select, textarea, summary, [role=slider]";
  for (const node of document.querySelectorAll(controls))
    if (isSeen(node.getBoundingClientRect(), node)) found.controls++;
  return found;
}"""


def of_the_views(page: Page) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and figures of each view."""
    names = [name for views in PLACES.values() for name in views.values()]
    for name in names:  # the page opens with the first
        open_view(page, name)
        page.wait_for_timeout(DRAWN)
        yield name, page.evaluate(IN_VIEW, SMALL)


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--size", default="1280x800", help="of the window; default: %(default)s")
    given = made.parse_args()
    width, height = map(int, given.size.split("x"))
    app = App()
    try:
        app.answer()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            viewport = {"width": width, "height": height}
            page = Visit(browser, app.url, has_form=False, viewport=viewport).page
            print(f"\n{given.size:12} {'words':>6} {'small':>6} {'controls':>9}")
            for name, seen in of_the_views(page):
                share = seen["small"] / max(seen["words"], 1)
                print(f"{name:12} {seen['words']:6} {share:6.0%} {seen['controls']:9}")
            browser.close()
    finally:
        app.stop()


if __name__ == "__main__":
    main()
