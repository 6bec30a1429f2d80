"""Runs in a notebook: after `import ui.notebook`, a `sequoia.Run` that a cell returns is shown in
the player of the page. Also a run as a web page that needs no server (`to_html`)."""

from __future__ import annotations

import html
import json
import sys

from sequoia import Run
from sequoia.saved_files.race_file import LaneLog, RaceLog
from ui.run.messages import OpenedRun
from ui.shared.saved_pages import page

_LOOK = "width: 100%; height: 820px; border: 1px solid"


def to_html(run: Run) -> str:
    """The web page that the app's "Save as web page" makes of the run."""
    shown = OpenedRun(_alone(run))
    meta = shown.meta
    models = [name for name in (meta.get("target"), meta.get("draft")) if name]
    title = ", ".join(filter(None, [f"Sequoia: a {meta['label']} run", " + ".join(models)]))
    return page("run", title, json.loads(shown.whole(stored=False)))


def _alone(run: Run) -> RaceLog:
    """`run` as the only lane."""
    trees = [step.tree for step in run.steps]
    most = max(map(len, trees), default=1)
    how = run.meta.get("tree", {}).get("description", "")
    verifier = run.meta.get("verifier", "")
    lane = LaneLog(
        "Sequoia" if most > 1 else "Plain", how, verifier, most == 1, most, len({*trees}) > 1, run
    )
    return RaceLog(run.meta, (lane,))


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
