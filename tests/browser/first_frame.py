"""Takes the first frame of the film from the running page, and writes it to assets/. Run it when
the film or the look of its view has changed: python tests/browser/first_frame.py"""

from __future__ import annotations

from playwright.sync_api import Page, sync_playwright
from running_app import CHROMIUM, FLAGS, ROOT, App

FILE = ROOT / "assets" / "first_frame.html"
DRAWN = "#fm-view .sq-tree-svg g"
# what is visible of the header and the film, without what differs between machines, and without the
# attributes that no style needs
COPY = """
() => {
  const kept = /^(class|style|role|aria-(selected|pressed)|data-(?!view|part).*|viewBox)$/;
  const drawing = /^(d|[xy][12]?|r|[cr][xy]|width|height|points|transform|fill|stroke.*|text-anchor|dy|font-size)$/;
  const copy = (from) => {
    const to = from.cloneNode(false);
    for (const { name } of [...to.attributes])
      if (!kept.test(name) && !(from instanceof SVGElement && drawing.test(name)))
        to.removeAttribute(name);
    for (const child of from.childNodes) {
      if (child.nodeType === Node.TEXT_NODE && child.data.trim()) to.append(child.data);
      const isShown = child.nodeType === Node.ELEMENT_NODE && child.checkVisibility();
      if (isShown && !child.matches(".pg-status, .pg-skip")) to.append(copy(child));
    }
    return to;
  };
  const parts = [".pg-top", "#fm-view .sq-stage"];
  return parts.map((part) => copy(document.querySelector(part)).outerHTML).join("\\n");
}
"""


def taken(page: Page) -> str:
    """The first frame of the film that `page` shows."""
    page.wait_for_selector(DRAWN)
    return page.evaluate(COPY)


def main() -> None:
    app = App()
    app.answer()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(app.url)
        FILE.write_text(taken(page) + "\n", encoding="utf-8")
        browser.close()
    app.stop()


if __name__ == "__main__":
    main()
