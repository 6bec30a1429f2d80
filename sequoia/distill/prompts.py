"""Prompts for the target's own answers: many forms, each with many topics. See prompts.json."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from sequoia.text_files import load_json

_HELD_EVERY = 10  # every tenth topic is held out


def prompts(seed: int, held_out: bool) -> Iterator[str]:
    """Prompts in random order without end. No topic occurs both with and without `held_out`."""
    kinds = [*load_json(Path(__file__).with_name("prompts.json")).values()]
    chance = random.Random(seed)
    while True:
        [kind] = chance.choices(kinds, [kind["weight"] for kind in kinds])
        number = chance.randrange(len(kind["items"]))
        if (number % _HELD_EVERY == 0) == held_out:
            yield chance.choice(kind["forms"]).replace("{}", kind["items"][number])
