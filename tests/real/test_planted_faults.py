"""The checks at load find planted faults in the real model in every dtype. They neither refuse it
nor reject its faster forward."""

from __future__ import annotations

from pathlib import Path

import pytest
from checked_models import DTYPES, is_accepted, planted
from planted_faults import FAST_FAULTS, FAULTS

from sequoia.errors import BadModel

pytestmark = [pytest.mark.real, pytest.mark.nightly]
TEXTS = 50


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(
    fault: str, dtype: str, real_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadModel, match="cannot run a tree"):
        planted(FAULTS[fault], str(real_model), dtype, monkeypatch)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("fault", FAST_FAULTS)
def test_a_fault_of_the_faster_forward_is_found(
    fault: str, dtype: str, real_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert planted(FAST_FAULTS[fault], str(real_model), dtype, monkeypatch).no_fast_forward


@pytest.mark.parametrize("dtype", DTYPES)
def test_it_is_accepted_with_each_text(dtype: str, real_model: Path) -> None:
    assert all(is_accepted(str(real_model), dtype, seed) for seed in range(TEXTS))
