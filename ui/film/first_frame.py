"""The first frame of the film as HTML, which a visitor sees before the page's scripts have run.
`tests/browser/first_frame.py` takes it from the running page."""

from __future__ import annotations

from sequoia.assets_folder import ASSETS

FILE = ASSETS / "first_frame.html"
# another view takes the frame away at once; the film does when it is drawn
_SCRIPT = """
  if (location.hash && !location.hash.startsWith("#learn/film")) {
    document.getElementById("first-frame").remove();
  } else if (matchMedia("(prefers-color-scheme: dark)").matches) {
    document.body.classList.add("dark");
  }
"""


def first_frame() -> str:
    """HTML for the end of the page's body. It lies over the page, and cannot be operated."""
    frame = FILE.read_text(encoding="utf-8")
    return f'<div id="first-frame" inert>{frame}</div><script>{_SCRIPT}</script>'
