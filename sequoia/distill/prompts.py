"""Prompts for the target's own answers: many forms, each with many topics. See prompts.json."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("prompts.json")
_HELD_EVERY = 10  # every tenth topic is held out


def prompts(seed: int, held_out: bool) -> Iterator[str]:
    """Prompts in random order without end. No topic occurs both with and without `held_out`."""
    kinds = list(json.loads(_FILE.read_text()).values())
    weights = [kind["weight"] for kind in kinds]
    chance = random.Random(seed)
    while True:
        kind = chance.choices(kinds, weights)[0]
        yield _filled(chance.choice(kind["forms"]), chance.choice(_items(kind, held_out)))


def _items(kind: dict[str, Any], held_out: bool) -> list[str]:
    items = enumerate(kind["items"])
    return [item for index, item in items if (index % _HELD_EVERY == 0) == held_out]


def _filled(form: str, item: str) -> str:
    return form.replace("{}", item)
