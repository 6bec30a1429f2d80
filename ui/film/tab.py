"""The Film view: the recorded run that the page opens with."""

from __future__ import annotations

from functools import cache

import gradio as gr

from sequoia.assets_folder import ASSETS
from ui.run import recordings
from ui.run.messages import notice_message
from ui.run.tab import SKELETON, RunTab
from ui.serving.model_host import ModelHost
from ui.shared.events import QUIET
from ui.shared.layout import drawn


class FilmTab:
    """The view's component and its handlers. runs: the view whose form gets the settings of the
    recorded run."""

    def __init__(self, model_host: ModelHost, runs: RunTab) -> None:
        self._model_host = model_host
        self._runs = runs
        self._message = cache(_message)  # because every page opens with it

    def build(self) -> None:
        """Create the view's component in the current container."""
        self.stage = drawn("fm", "film/connect", ["come", "take"], SKELETON)

    def wire(self, blocks: gr.Blocks) -> None:
        """Connect the component to its handlers."""
        for comes in (blocks.load, self.stage.come):  # it was not ready for the page's load event
            comes(self.start, None, self.stage, **QUIET)
        runs = self._runs
        filled = [runs.stage, *runs.form.of_a_request]
        self.stage.take(runs.take, runs.profiles, filled, **QUIET)

    def start(self) -> str:
        """The recorded run of the loaded pair as a message."""
        return self._message(recordings.film_name(self._model_host.draft))


def _message(name: str) -> str:
    found = recordings.film(name)
    return found.whole(stored=False) if found else notice_message(notice="No recorded run found.")


# -- the first frame -------------------------------------------------------------------------------


# What a visitor sees before the page's scripts have run: `tests/browser/first_frame.py` takes it
# from the running page.
FILE = ASSETS / "first_frame.html"
# another view takes the frame away at once; the film does when it is drawn
_SCRIPT = """
  if (location.hash && !location.hash.startsWith("#learn/film")) {
    document.getElementById("first-frame").remove();
  } else if (matchMedia("(prefers-color-scheme: dark)").matches) {
    document.body.classList.add("dark");
  }
"""


def first_frame(draft: str) -> str:
    """HTML for the end of the page's body. It lies over the page, and cannot be operated. Empty if
    the pair with the draft called `draft` has a film of its own."""
    if recordings.film_name(draft) != recordings.WELCOME:
        return ""
    frame = FILE.read_text(encoding="utf-8")
    return f'<div id="first-frame" inert>{frame}</div><script>{_SCRIPT}</script>'
