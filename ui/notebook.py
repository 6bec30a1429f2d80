"""Runs in a notebook: after `import ui.notebook`, a `sequoia.Run` that a cell returns is shown in
the player of the page. Also a run as a web page that needs no server (`to_html`)."""

from __future__ import annotations

import html
import sys

from sequoia import Run
from ui.decode.messages import all_steps, recorded
from ui.shared.saved_pages import page

_LOOK = "width: 100%; height: 820px; border: 1px solid"


def to_html(run: Run) -> str:
    """The web page that the app's "Save as web page" makes of the run."""
    meta = recorded(run.meta)
    models = [name for name in (meta.get("target"), meta.get("draft")) if name]
    title = ", ".join(filter(None, [f"Sequoia: a {meta['label']} run", " + ".join(models)]))
    return page("decode", title, {**all_steps(run.steps, run.pieces), "meta": meta})


def player(run: Run) -> str:
    """The page in a frame that can neither load anything nor reach the notebook."""
    return (
        f'<iframe title="A run of Sequoia" sandbox="allow-scripts allow-downloads" '
        f'style="{_LOOK}" srcdoc="{html.escape(to_html(run))}"></iframe>'
    )


def _register() -> None:
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell:
        shell.display_formatter.formatters["text/html"].for_type(Run, player)


_register()
