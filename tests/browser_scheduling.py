"""Spreads the test files over several workers (pytest-xdist).

Browser tests mostly wait for pages, other tests compute. Of three workers or more, one therefore
begins with browser tests while the others compute. Playwright's event loop keeps running once it
has started, so a worker that has begun with browser tests gets no others.
"""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadFileScheduling

LEAST_WORKERS = 3  # with fewer, browser tests come last
# files that take longest, in this order; begun last, one of them would keep the other workers idle
SLOWEST = (
    "test_page.py",
    "test_accessibility.py",
    "test_lab_view.py",
    "test_race_page.py",
    "test_page_link.py",
    "test_tour.py",
    "test_saved_pages.py",
    "test_race_view.py",
)


def is_browser(path: str) -> bool:
    return path.startswith("tests/browser/") or "/tests/browser/" in path


def order_of(path: str) -> tuple[bool, int]:
    """Sorts files: browser tests last, and of these the slowest first."""
    if not is_browser(path):
        return False, 0
    name = path.rsplit("/", 1)[-1]
    return True, SLOWEST.index(name) if name in SLOWEST else len(SLOWEST)


class BrowserBesideOthers(LoadFileScheduling):
    """The tests of a file share a worker, so that what they share is made once."""

    def _assign_work_unit(self, node: Any) -> None:
        self.workqueue.move_to_end(self._next_file(node), last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: Any) -> None:
        has_begun = any(map(is_browser, self.assigned_work.get(node, ())))
        if has_begun and not any(map(is_browser, self.workqueue)):
            if not node.shutting_down:
                node.shutdown()
            return
        super()._reschedule(node)

    def _next_file(self, node: Any) -> str:
        browser = [file for file in self.workqueue if is_browser(file)]
        others = [file for file in self.workqueue if not is_browser(file)]
        is_last = len(self.nodes) >= LEAST_WORKERS and node is self.nodes[-1]
        has_begun = any(map(is_browser, self.assigned_work.get(node, ())))
        return (browser + others if is_last or has_begun else others + browser)[0]
