"""The KV cache: which slots are kept, and in which order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from doors import Cache


def held(cache: Cache, layer: int = 0) -> list[int]:
    """The keys of the kept slots, each key a whole number."""
    return cache.kept(layer)[0][0, 0, :, 0].int().tolist()


def test_update_returns_all_slots_so_far_and_writes_after_them() -> None:
    cache = Cache(2, 16)
    cache.write([1, 2, 3])
    cache.keep(range(3))
    cache.write([4, 5])
    keys, values = cache.write([6])
    assert keys.shape == (1, 2, 6, 3)
    assert keys[0, 1, :, 2].int().tolist() == [101, 102, 103, 104, 105, 106]
    assert torch.equal(values, -keys)


@pytest.mark.parametrize(
    "kept", [[], [0], [0, 1, 2, 3, 4], [4], [0, 2, 3], [1, 4], [0, 1, 4], [2, 3, 4]]
)
def test_kept_slots_are_moved_behind_the_prefix(kept: list[int]) -> None:
    """Some copies overlap their source: for example, slots 2, 3, 4 are moved to 0, 1, 2."""
    cache = Cache(2, 16)
    cache.write([1, 2])
    cache.keep(range(2))
    cache.write([10, 11, 12, 13, 14])
    cache.keep(kept)
    assert cache.slots == (2 + len(kept), 0)
    for layer in range(2):
        assert held(cache, layer) == [
            row + 100 * layer for row in (1, 2, *(10 + row for row in kept))
        ]
        keys, values = cache.kept(layer)
        assert torch.equal(values, -keys)
    cache.write([20])
    cache.keep([0])
    assert held(cache) == [1, 2, *(10 + row for row in kept), 20]


def test_random_writes_and_keeps_equal_a_list() -> None:
    """After any calls of `write` and `keep`, the cache holds what a list would hold. There may be
    several writes before a keep, because a draft writes level by level."""
    rng = np.random.default_rng(0)
    cache = Cache(1, 400)
    model = []
    for _ in range(40):
        written: list[int] = []
        for _ in range(rng.integers(1, 4)):
            values = rng.integers(1000, size=rng.integers(1, 6)).tolist()
            cache.write(values)
            written += values
        kept = sorted(
            rng.choice(
                len(written), size=rng.integers(0, min(len(written), 6) + 1), replace=False
            ).tolist()
        )
        cache.keep(kept)
        model += [written[row] for row in kept]
        assert held(cache) == model
