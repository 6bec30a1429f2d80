"""How soon the running app's page shows something."""

from __future__ import annotations

from cost_rounds import Figures
from playwright.sync_api import Browser, Page

# The recording counts as drawn in the first frame in which its tree has more than 8 SVG groups
# (the nodes and a few others).
WATCH = """
  const look = () => {
    const nodes = document.querySelectorAll("#fm-view .sq-tree-svg g").length;
    if (nodes > 8) window.drawnAt = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
"""
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def paint_times(browser: Browser, address: str) -> Figures:
    """The app's page with models loaded: milliseconds from the start of navigation to each paint

    The page is opened with an empty cache, then reloaded. view_cost.py prints the line above as the
    heading of a table.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 800})  # with an empty cache
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(address, wait_until="commit")
    drawn = drawn_at(page)
    first_paint = page.evaluate(FIRST_PAINT)
    page.reload(wait_until="commit")
    again = drawn_at(page)
    context.close()
    return {
        "first contentful paint": first_paint,
        "recording drawn": drawn,
        "recording drawn after a reload": again,
    }


def drawn_at(page: Page) -> float:
    page.wait_for_function("window.drawnAt", timeout=60_000, polling=100)
    return page.evaluate("window.drawnAt")
