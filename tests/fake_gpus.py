"""A fake machine with two GPUs, for loading targets that are spread over several devices."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch

from sequoia.loading import load, placement
from sequoia.loading.placement import HOST, SpreadPlacement

LAYERS = 4  # of the targets that are spread


def fake_two_gpus(places: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that this machine has two GPUs, and place layer i of a target on places[i]."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(load, "checked_device", lambda _: HOST)
    monkeypatch.setattr(placement, "free_bytes", lambda _: 10**12)
    monkeypatch.setattr(placement, "spread", onto(places))


def onto(places: list[str]) -> Any:
    """A replacement for `spread` in placement.py. It places layer i on places[i] and everything
    else on the CPU. The placement's `needs` also lists the device "meta", because a placement with
    only one device would not count as spread."""

    def spread(parts: Any, *_: Any) -> SpreadPlacement:
        where = dict.fromkeys((*parts.ahead, *parts.behind), "cpu") | dict(
            zip(parts.layers, places, strict=True)
        )
        return SpreadPlacement(
            where, (HOST,) * LAYERS, HOST, Counter({HOST: parts.total, torch.device("meta"): 0})
        )

    return spread
