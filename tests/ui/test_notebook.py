"""The example notebook runs in Jupyter's kernel and shows what it promises: pictures, then the
player."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from nbclient import NotebookClient

ASSETS = Path(__file__).parents[2] / "assets"


@pytest.fixture(scope="module")
def shown() -> list[dict[str, str]]:
    """What each cell with a result shows, by media type."""
    notebook = nbformat.read(ASSETS / "notebook.ipynb", as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": ASSETS}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [result.data for cell in cells for result in cell.outputs if "data" in result]


def test_trees_plans_and_runs_are_pictures(shown: list[dict[str, str]]) -> None:
    tree, plan, run, _ = [ElementTree.fromstring(one["image/svg+xml"]) for one in shown[:4]]
    name = "{http://www.w3.org/2000/svg}"
    assert len(tree.findall(f".//{name}circle")) == 24
    assert "predicted" in "".join(plan.itertext())
    assert "measured" in "".join(run.itertext())


def test_after_the_import_a_run_is_the_player(shown: list[dict[str, str]]) -> None:
    *before, last, _ = shown
    assert not any("text/html" in one for one in before)
    assert last["text/html"].startswith("<iframe")
    assert 'sandbox="allow-scripts allow-downloads"' in last["text/html"]
