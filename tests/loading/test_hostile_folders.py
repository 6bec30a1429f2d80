"""Broken and hostile model folders: each is refused with one clear sentence, and models that were
loaded before still work."""

from __future__ import annotations

import re
import resource
import shutil
from pathlib import Path

import decoded
import hostile
import pytest

from sequoia import Pair, SamplingParams, Tree, load_pair, speculate
from sequoia.errors import SequoiaError

MEMORY = 1_000_000_000  # bytes: the peak memory may grow by less than this in each group
# Signs of an unclear message: class names, a second line or sentence, and terms that only
# programmers know.
_UNCLEAR = re.compile(
    r"\n|Traceback|\w(Error|Exception)\b|[.!?] +[A-Z]|has no attribute|NoneType|object is not"
    r"|<class|positional|keyword argument|\bnan\b|You set"
)
_LONGEST = 400


@pytest.fixture(scope="module")
def pair(good: Path) -> Pair:
    return load_pair(target=str(good), draft=str(good), device="cpu", dtype="float32")


def refusal(folder: Path, good: Path, role: str) -> str:
    """Why the model in `folder` is refused as target or draft; "" if it is loaded."""
    names = {"target": str(good), "draft": str(good), role: str(folder)}
    try:
        load_pair(**names, device="cpu", dtype="float32", on_progress=lambda _: None)
    except SequoiaError as problem:
        return str(problem)
    return ""


def emitted(pair: Pair) -> list[int]:
    steps = speculate(pair, "def f(x):", SamplingParams(max_new_tokens=12), Tree.kary(2, 3))
    return decoded.emitted(steps)


def is_clear(words: str) -> bool:
    """Whether `words` seem to be one sentence that a user understands."""
    return 10 < len(words) <= _LONGEST and not _UNCLEAR.search(words)


@pytest.mark.parametrize("group", hostile.GROUPS)
def test_each_folder_is_refused_with_one_clear_sentence_and_the_loaded_pair_still_works(
    group: str, good: Path, pair: Pair, tmp_path: Path
) -> None:
    """All folders of a group are loaded in the test's own process. A folder that made this process
    hang, crash or run out of memory would fail the whole run."""
    before = emitted(pair)
    peak = _peak()
    found = {}
    for number, (name, spoil) in enumerate(hostile.GROUPS[group].items()):
        folder = tmp_path / str(number) / "model"
        shutil.copytree(good, folder)
        spoil(folder)
        found[name] = refusal(folder, good, ("target", "draft")[number % 2])
        assert not (folder.parent / "ran").exists(), f"{name}: a pickle was opened"
        shutil.rmtree(folder.parent)
    assert {name: words for name, words in found.items() if not is_clear(words)} == {}
    assert emitted(pair) == before
    assert _peak() - peak < MEMORY


def _peak() -> int:
    """The most bytes that this process ever had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
