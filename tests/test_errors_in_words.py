"""Errors of other libraries and of the disk in plain words, without class names."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from sequoia.errors import BadModel, reason
from sequoia.loading.model_files import read_object


def test_a_memory_error_without_text_gets_words() -> None:
    assert reason(MemoryError()) == "there is not enough memory"


def test_lack_of_gpu_memory_is_one_clause() -> None:
    """`reason` must fit at the end of a sentence, but torch's own message has two sentences."""
    problem = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    assert reason(problem) == "there is not enough memory"


def test_an_error_without_text_and_an_internal_error_get_words() -> None:
    assert reason(AssertionError()) == "the library gives no reason"
    assert "the library cannot handle" in reason(TypeError("unhashable type: 'list'"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="its config cannot be read"):
        read_object(tmp_path / "missing.json", "its config", 100)
