"""Errors of other libraries and of the disk in plain words, without class names."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sequoia.errors import BadModel
from sequoia.library_errors import reason
from sequoia.loading.json_file import read_object


def test_lack_of_memory_has_words_although_its_error_has_none() -> None:
    assert reason(MemoryError()) == "there is not enough memory"


def test_lack_of_memory_of_a_gpu_is_a_clause() -> None:
    """A reason stands at the end of a sentence. Torch's own message has two sentences."""
    problem = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    assert reason(problem) == "there is not enough memory"


def test_an_error_without_text_is_not_taken_for_a_wrong_type() -> None:
    assert reason(AssertionError()) == "the library gives no reason"
    assert "the library cannot handle" in reason(TypeError("unhashable type: 'list'"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="its config cannot be read"):
        read_object(tmp_path / "missing.json", "its config", 100, BadModel)
