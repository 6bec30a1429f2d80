"""A checkout of the project, this one or an older one, and the pages it serves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser
from running_app import App, models_ready

RUN_PAGE = Path("tests/browser/pages/run.html")
SERVE = "import view_pages; print(view_pages.address('run'), flush=True); input()"


def why_not_a_checkout(folder: Path) -> str:
    """Why `folder` is not a checkout, or "" if it is one."""
    if not folder.is_dir():
        return "there is no such folder"
    if not (folder / "app.py").is_file():
        return "it has no app.py"
    return "" if (folder / RUN_PAGE).is_file() else f"it has no {RUN_PAGE}"


class Checkout:
    """Serves the test page and the app of `folder`, each from its first use to `close`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.app: App | None = None
        self.files: subprocess.Popen[str] | None = None
        self.page = ""

    def run_page(self) -> str:
        """The address of the Run view's test page, opened without showing a run."""
        if self.files is None:
            self.page = self.serve_modules()
        return f"{self.page}?bare"

    def serve_modules(self) -> str:
        """Serve the page with the checkout's own server, which also joins its style sheets."""
        paths = [str(self.folder), str(self.folder / "tests/browser")]
        self.files = subprocess.Popen(
            [sys.executable, "-c", SERVE],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.files.stdout is not None
        return self.files.stdout.readline().strip()

    def ready_app(self, browser: Browser) -> str:
        """The address of the app, once its models are loaded."""
        if self.app is None:
            self.app = App(folder=self.folder)
            self.app.answer()
            page = browser.new_page()
            page.goto(self.app.url)
            models_ready(page)
            page.close()
        return self.app.url

    def close(self) -> None:
        if self.files is not None:
            self.files.terminate()
            self.files.communicate(timeout=10)
        if self.app is not None:
            self.app.stop()
