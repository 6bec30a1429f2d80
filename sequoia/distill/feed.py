"""Batches of taught texts for the training, drawn from shards."""

from __future__ import annotations

import random
from pathlib import Path

from sequoia.distill.shards import Shard, kind_of
from sequoia.distill.teacher import Taught

ANSWERS = "chat"  # the kind of shards with the target's answers
_SHARE = 0.6  # of the texts are answers, if there are others too
_DRAWN = 8  # batches drawn at once, so that the texts of a batch have about the same length


class Feed:
    """Batches of `batch` texts drawn from the shards in `folder`. New shards are used as they
    appear. The same seed and step draw the same from the same shards."""

    def __init__(self, folder: Path, seed: int, batch: int) -> None:
        self._folder = folder
        self._seed = seed
        self._batch = batch
        self._shards: dict[Path, Shard] = {}
        self._drawn = -1
        self._batches: list[list[Taught]] = []

    @property
    def empty(self) -> bool:
        """Whether there are no shards yet."""
        return not any(self._folder.glob("*.safetensors"))

    def __call__(self, step: int) -> list[Taught]:
        """The texts of a step."""
        number, part = divmod(step, _DRAWN)
        if number != self._drawn:
            self._batches = self._draw(random.Random(f"{self._seed} {number}"))
            self._drawn = number
        return self._batches[part]

    def _draw(self, chance: random.Random) -> list[list[Taught]]:
        kinds = self._kinds()
        shares = [_SHARE if kind == ANSWERS else (1 - _SHARE) / len(kinds) for kind in kinds]
        drawn = chance.choices([*kinds.values()], shares, k=_DRAWN * self._batch)
        texts = sorted((_any_text(chance, of) for of in drawn), key=lambda one: len(one.tokens))
        batches = [texts[i : i + self._batch] for i in range(0, len(texts), self._batch)]
        chance.shuffle(batches)
        return batches

    def _kinds(self) -> dict[str, list[Shard]]:
        """The shards of each kind."""
        kinds: dict[str, list[Shard]] = {}
        for path in sorted(self._folder.glob("*.safetensors")):
            if path not in self._shards:
                self._shards[path] = Shard(path)
            kinds.setdefault(kind_of(path), []).append(self._shards[path])
        return kinds


def _any_text(chance: random.Random, shards: list[Shard]) -> Taught:
    shard = chance.choices(shards, [len(shard) for shard in shards])[0]
    return shard[chance.randrange(len(shard))]
