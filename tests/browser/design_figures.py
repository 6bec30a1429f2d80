"""How many sizes the style sheets use, and how much each view shows on its first screen."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page, sync_playwright
from running_app import CHROMIUM, FLAGS, PLACES, ROOT, App, Visit, open_view

SMALL = 13  # px; type of this size or less is small
DRAWN = 4000  # ms until a view that was opened shows its charts
LENGTH = re.compile(r"(?<![\w.#])-?(\d*\.?\d+(?:px|em|rem|lh|%|mm|cqi|vw))")
KINDS = {
    "font sizes": r"font(?:-size)?",
    "weights": r"font(?:-weight)?",
    "spacings": r"(?:margin|padding|(?:row-|column-)?gap)(?:-[a-z]+)*",
    "radii": r"border(?:-[a-z]+)*-radius",
}
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


def sheets() -> str:
    """All style sheets, without comments."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("ui/**/*.css"))]
    return re.sub(r"/\*.*?\*/", "", "\n".join(texts), flags=re.DOTALL)


def lengths(value: str, tokens: dict[str, str]) -> Iterator[str]:
    """The lengths other than 0 in a value; variables are replaced by their values."""
    plain = re.sub(r"var\((--[\w-]+)[^)]*\)", lambda one: tokens.get(one[1], ""), value)
    return (one for one in LENGTH.findall(plain) if float(re.sub("[a-z%]+", "", one)))


def of_the_sheets() -> dict[str, list[str]]:
    """The distinct values of each kind in the style sheets of a checkout."""
    text = sheets()
    variables = re.findall(r"(--[\w-]+):\s*([^;{}]+);", text)
    tokens = {name: value for name, value in variables if LENGTH.fullmatch(value)}
    found: dict[str, set[str]] = {}
    for kind, properties in KINDS.items():
        values = re.findall(rf"(?<![\w-])(?:{properties}):\s*([^;{{}}]+);", text)
        if kind == "weights":
            found[kind] = {one for value in values for one in re.findall(r"\b\d{3}\b", value)}
        elif kind == "font sizes":
            found[kind] = {next(lengths(value, tokens), "") for value in values} - {""}
        else:
            found[kind] = {one for value in values for one in lengths(value, tokens)}
    found["media queries"] = set(re.findall(r"@(?:media|container)[^{]+(?= )", text))
    return {kind: sorted(values) for kind, values in found.items()}


def of_the_views(page: Page) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and figures of each view."""
    names = [name for views in PLACES.values() for name in views.values()]
    for name in names:  # the page opens with the first
        open_view(page, name)
        page.wait_for_timeout(DRAWN)
        yield name, page.evaluate(IN_VIEW, SMALL)


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--sheets", action="store_true", help="only the style sheets, no browser")
    made.add_argument("--size", default="1280x800", help="of the window; default: %(default)s")
    given = made.parse_args()
    for kind, values in of_the_sheets().items():
        print(f"{kind:14} {len(values):3}  {', '.join(values)}")
    if given.sheets:
        return
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
