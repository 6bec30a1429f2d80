"""Broken and hostile model folders loaded through the page: it says why not, and goes on
serving."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import fakes
import hostile
import pytest

from sequoia import Pair
from sequoia.loading.tokenizers import try_tokenizer
from ui.decode.follow_run import LiveRun
from ui.models.load_job import KEPT, Loading, Report
from ui.models.request import Wanted
from ui.serving.model_host import EngineRoom

# One of each kind, and those that crashed the server or kept it busy.
CHOSEN = (
    "config is deep list",
    "config: a million layers",
    "config: a billion labels",
    "config: number type is a number",
    "weights cut to half",
    "weights with NaN for one word",
    "index names pickles alone",
    "model.safetensors is a dangling link",
    "a part is a named pipe",
    "tokenizer backtracks on a",
    "tokenizer with a word far off",
    "generation config ends with a list of lists",
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good") / "model"
    fakes.save(fakes.tiny_model(), folder)
    return folder


def loaded(room: EngineRoom, target: Path, draft: Path) -> Report:
    """The last news of loading the two."""
    wanted = Wanted("bundled", str(target), str(draft), "cpu", "float32", False)
    task = Loading(room, wanted, online=False)
    task.start()
    return list(task.news())[-1]


@pytest.mark.parametrize("name", CHOSEN)
def test_the_page_says_why_and_goes_on_with_the_models_that_it_has(
    name: str,
    room: EngineRoom,
    pair: Pair,
    good: Path,
    tmp_path: Path,
    make: Callable[..., LiveRun],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(try_tokenizer, "_TRIAL_SECONDS", 1.5)
    folder = Path(shutil.copytree(good, tmp_path / "model"))
    hostile.FOLDERS[name](folder)
    version = room.version
    report = loaded(room, folder, good)
    assert report.error
    assert report.error.endswith(f" ({KEPT})")
    assert "unexpected" not in report.error
    assert (room.status.stage, room.version) == ("ready", version)
    run = make()
    run.start(1)
    assert json.loads(list(run.messages())[-1])["error"] is None
    assert run.holding
    assert room.pair(lambda: False) is pair


def test_a_good_folder_is_loaded_the_same_way(room: EngineRoom, good: Path) -> None:
    version = room.version
    assert loaded(room, good, good).done
    assert room.version == version + 1
    assert room.status.stage == "ready"
