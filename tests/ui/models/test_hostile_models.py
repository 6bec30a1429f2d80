"""Broken and hostile model folders loaded through the page: each is refused with a reason,
and the page keeps working."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import fakes
import hostile
import pytest

from sequoia import Pair
from sequoia.loading import compare_tokenizers
from sequoia.loading.pair_request import PairRequest
from ui.models.load_job import KEPT, LoadJob, Report
from ui.run.decode_job import DecodeJob
from ui.serving.model_host import ModelHost

# A damage of each kind of file. tests/loading/test_hostile_folders.py tries all of them.
CHOSEN = (
    "config: a million layers",
    "tokenizer backtracks on a",
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good") / "model"
    fakes.save(fakes.tiny_model(), folder)
    return folder


def loaded(model_host: ModelHost, target: Path, draft: Path) -> Report:
    """The last report about loading the two folders."""
    wanted = PairRequest("bundled", str(target), str(draft), "cpu", "float32", False)
    task = LoadJob(model_host, wanted, online=False)
    task.start()
    return list(task.reports())[-1]


@pytest.mark.parametrize("name", CHOSEN)
def test_the_page_says_why_and_keeps_its_models(
    name: str,
    model_host: ModelHost,
    pair: Pair,
    good: Path,
    tmp_path: Path,
    make: Callable[..., DecodeJob],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compare_tokenizers, "_TRIAL_SECONDS", 0.7)
    folder = Path(shutil.copytree(good, tmp_path / "model"))
    hostile.FOLDERS[name](folder)
    version = model_host.version
    report = loaded(model_host, folder, good)
    assert report.error
    assert report.error.endswith(f" {KEPT}")
    assert "unexpected" not in report.error
    assert (model_host.status.stage, model_host.version) == ("ready", version)
    run = make()
    run.start(1)
    assert json.loads(list(run.messages())[-1])["error"] is None
    assert run.holding
    assert model_host.pair(lambda: False) is pair
