"""A good model folder, copies of it that a test may spoil, and a hub that serves one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_hub import FakeHub, served
from fakes import save, tiny_model
from transformers import AutoModelForCausalLM


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that loads."""
    return Path(save(tiny_model(), tmp_path_factory.mktemp("good") / "model"))


@pytest.fixture
def folder(tmp_path: Path, good: Path) -> Path:
    """A copy of the good folder."""
    return Path(shutil.copytree(good, tmp_path / "model"))


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading weights fails the test: the refusal must come before."""
    monkeypatch.setattr(
        AutoModelForCausalLM, "from_pretrained", lambda *_, **__: pytest.fail("weights were read")
    )


@pytest.fixture
def hub(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub that serves `folder` as owner/model, and an empty cache."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "no token"))
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    with served() as found:
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        found.models["owner/model"] = folder
        yield found
