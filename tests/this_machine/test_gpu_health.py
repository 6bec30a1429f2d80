"""Tests with GPUs that torch lists but that cannot run anything."""

from __future__ import annotations

import logging

import pytest
import torch

from sequoia.this_machine.gpu_health import free_unused_gpu_memory, gpu_problem

CARD = torch.device("cuda", 0)


def raising(problem: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def ones(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr(torch, "ones", ones)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (
            RuntimeError(
                "CUDA error: no kernel image is available for execution on the device\nCUDA kernel "
                "errors might be asynchronously reported at some other API call"
            ),
            "CUDA error: no kernel image is available for execution on the device",
        ),
        (AssertionError(), "AssertionError"),
        (torch.OutOfMemoryError("CUDA out of memory"), ""),  # full, but not broken
    ],
)
def test_the_first_line_of_the_error_is_returned_unless_memory_is_full(
    problem: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(problem, monkeypatch)
    assert gpu_problem(CARD) == words


def test_a_cpu_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """`gpu_problem` runs no trial computation on a CPU."""
    raising(RuntimeError(), monkeypatch)
    assert gpu_problem(torch.device("cpu")) == ""


def test_freeing_memory_of_a_broken_card_is_logged_and_does_not_raise(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", broken)
    with caplog.at_level(logging.WARNING):
        free_unused_gpu_memory()
    assert [record.getMessage() for record in caplog.records] == [
        "unused graphics memory could not be freed: CUDA error: device-side assert triggered"
    ]
