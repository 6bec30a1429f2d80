"""Weights get a dtype that is fast on their own device."""

from __future__ import annotations

import platform

import pytest
import torch

from sequoia.this_machine.dtypes import narrowest_dtype, usual_dtype

CAPABILITIES = {0: (8, 9), 1: (7, 5), 2: (6, 1), 3: (12, 0)}


@pytest.fixture(autouse=True)
def _cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four cards. Torch's own test for bfloat16 asks about the current card only. Here it always
    says yes, so that code which relies on it fails."""

    def capability(device: torch.device) -> tuple[int, int]:
        return CAPABILITIES[device.index]

    monkeypatch.setattr(torch.cuda, "get_device_capability", capability)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *_: True)


@pytest.mark.parametrize(
    ("card", "dtype"),
    [(0, torch.bfloat16), (1, torch.float16), (2, torch.float32), (3, torch.bfloat16)],
)
def test_a_card_that_only_emulates_bfloat16_gets_another_dtype(
    card: int, dtype: torch.dtype
) -> None:
    assert narrowest_dtype(torch.device("cuda", card)) == dtype


@pytest.mark.parametrize(
    ("card", "stored", "dtype"),
    [
        (0, torch.float16, torch.float16),
        (0, torch.float32, torch.bfloat16),
        (1, torch.bfloat16, torch.float16),
        (2, torch.float16, torch.float32),
    ],
)
def test_float16_files_keep_their_numbers_on_a_card(
    card: int, stored: torch.dtype, dtype: torch.dtype
) -> None:
    """A card that computes with 16-bit numbers uses float16 files as they are. In all other cases
    the weights get the card's narrowest dtype."""
    assert usual_dtype(torch.device("cuda", card), stored) == dtype


def test_on_a_processor_the_file_does_not_matter() -> None:
    """On a CPU, weights get its narrowest dtype even if their files have float16."""
    cpu = torch.device("cpu")
    assert usual_dtype(cpu, torch.float16) == narrowest_dtype(cpu)


def test_bfloat16_is_not_used_on_an_x86_processor_without_products_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There it would take up to four times as long as float32."""
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert narrowest_dtype(torch.device("cpu")) == torch.float32
