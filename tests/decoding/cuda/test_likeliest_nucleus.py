"""Top-p without a sort gives exactly the same numbers as top-p with a sort."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from sequoia.algorithm.sampling import nucleus
from sequoia.decoding.cuda import cuda_step as module
from sequoia.decoding.cuda.cuda_step import likeliest_nucleus


class Sorts(TorchDispatchMode):
    """Counts the sorts that torch does."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += "sort" in str(func)
        return func(*args, **(kwargs or {}))


def distributions(scale: float) -> torch.Tensor:
    """(rows, vocab) Distributions computed from bfloat16 logits, so many tokens are equally
    probable."""
    torch.manual_seed(3)
    logits = (torch.randn(12, 3000) * scale).bfloat16()
    logits[1] = logits[1].round()
    logits[2] = 0
    return torch.softmax(logits, -1, dtype=torch.float64)


@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("scale", [1.0, 4.0, 12.0])
def test_it_equals_the_reference(
    top_p: float, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    probs = distributions(scale)
    expected = nucleus(probs, top_p)
    for likeliest in (1, 50, 700, 4096):
        monkeypatch.setattr(module, "LIKELIEST", likeliest)
        assert torch.equal(likeliest_nucleus(probs, top_p), expected)


def test_usually_nothing_is_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIKELIEST", 700)
    probs = distributions(12.0)
    with Sorts() as sorts:
        likeliest_nucleus(probs[3:], 0.9)
    assert sorts.count == 0
    with Sorts() as sorts:
        likeliest_nucleus(probs, 0.9)  # row 2 is uniform, so it must be sorted
    assert sorts.count > 0


def test_a_row_of_nan_stays_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIKELIEST", 700)
    probs = distributions(12.0)[3:]
    probs[4] = float("nan")
    found = likeliest_nucleus(probs, 0.9)
    assert found.isnan().all(-1).tolist() == [row == 4 for row in range(len(probs))]
