"""Settings for all tests: one thread, no network, and short measurements of pairs. Tests marked
`gpu` are skipped without a CUDA device, those marked `nightly` without `-m nightly` or `-m real`. A
test in the folder `guarantee` gets the mark of that name."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Workers and the apps that tests start import the same libraries. Without bytecode, each would
# compile them anew, which takes ten seconds of processor time.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False
# huggingface_hub reads this when it is imported. Network access then fails at once, with a clear
# message.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import pytest
import torch

if not torch.cuda.is_available():
    # Triton reads this when it is first imported, perhaps by another library. Its kernels then run
    # on the CPU.
    os.environ["TRITON_INTERPRET"] = "1"

from sequoia.measuring import defaults
from sequoia.this_machine import memory

GUARANTEE = "guarantee"  # a mark, and the folder of the tests that get it


@pytest.fixture(autouse=True, scope="session")
def _no_container() -> None:
    """Ignore the memory limit of a container around the tests, so that a test that fakes the
    machine's memory gets exactly that amount."""
    memory.OWN_GROUP = Path("no such file")


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True, scope="session")
def _short_measurements() -> None:
    """A tiny pair is timed in a fifth of the time that a real one takes."""
    defaults._QUICK_SECONDS = 0.4


@pytest.fixture(scope="session")
def real_model() -> Path:
    """The folder of a real model. Without a network, tests that need it are skipped."""
    from make_model import NoModel, cached_model

    try:
        return cached_model()
    except NoModel as problem:
        pytest.skip(f"the real model cannot be downloaded: {problem}")


@pytest.fixture(scope="session")
def real_draft(real_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a draft for the real model: the model without eight of its 30 layers. At
    temperature 0, about half of its guesses are right."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tmp_path_factory.mktemp("draft")
    model = AutoModelForCausalLM.from_pretrained(real_model, dtype=torch.bfloat16)
    del model.model.layers[12:20]
    model.config.num_hidden_layers = len(model.model.layers)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(real_model).save_pretrained(folder)
    return folder


def pytest_collection_finish() -> None:
    """Exclude the objects of the imported modules from garbage collection. Many tests trigger a
    collection, which is faster without these objects. The tests' modules are imported by now."""
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run all tests of a file in the same worker, so that fixtures for the file are made only once.
    Tests of the real model are long and share no such fixture, so each goes to the next free
    worker. Files keep their order."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            is_long = nodeid.startswith("tests/real/test_planted_faults.py")
            return nodeid if is_long else super()._split_scope(nodeid)

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m guarantee`, other folders are not even read, which would take a minute."""
    is_other = collection_path.parent == Path(__file__).parent and collection_path.name != GUARANTEE
    return True if is_other and config.getoption("-m") == GUARANTEE else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Browser tests come last: once playwright's event loop has started, it keeps running, and
    # asyncio.run would fail in later tests. With several workers, each gets files in this order,
    # long ones first, so that none waits for the other at the end.
    sizes = {path: path.stat().st_size for path in {item.path for item in items}}
    items.sort(key=lambda item: ("browser" in item.path.parts, -sizes[item.path]))
    for item in items:
        if GUARANTEE in item.path.parts:
            item.add_marker(GUARANTEE)
    if not torch.cuda.is_available():
        _skip(items, "gpu", "needs a CUDA device")
    marks = config.getoption("-m")
    if "nightly" not in marks and not marks.startswith("real"):
        _skip(items, "nightly", "takes many minutes: pytest -m nightly")


def _skip(items: list[pytest.Item], mark: str, reason: str) -> None:
    for item in items:
        if mark in item.keywords:
            item.add_marker(pytest.mark.skip(reason=reason))
