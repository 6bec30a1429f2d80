"""Objects that exist when models are ready are excluded from garbage collection, to keep its pauses
short. Before a pair's memory is freed, all objects are included again."""

from __future__ import annotations

import gc

import fakes
import pytest

from ui.serving.model_host import ModelHost
from ui.serving.short_pauses import ShortPauses


def test_existing_objects_are_excluded_once_for_each_pair(
    model_host: ModelHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    for name in ("collect", "freeze", "unfreeze"):
        monkeypatch.setattr(gc, name, lambda name=name: done.append(name))
    pauses = ShortPauses(model_host)
    for _ in range(2):
        pauses.look()
    assert done == ["unfreeze", "collect", "freeze"]
    done.clear()
    model_host.change(fakes.tiny_pair, lambda: False, lambda ahead: None)
    assert done[:2] == ["unfreeze", "collect"], "unloading must find all objects"
    done.clear()
    pauses.look()
    assert done == ["unfreeze", "collect", "freeze"], "unloaded objects may still be frozen"


def test_nothing_is_excluded_while_models_load() -> None:
    frozen = gc.get_freeze_count()
    ShortPauses(ModelHost(fakes.tiny_pair, 4)).look()
    assert gc.get_freeze_count() == frozen
