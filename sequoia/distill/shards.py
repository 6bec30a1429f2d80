"""Taught texts: texts with the teacher's distributions. They are kept in files, called shards, from
which the training draws batches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache
from itertools import count, groupby
from pathlib import Path
from typing import Any, NamedTuple

import torch

ANSWERS = "chat"  # the kind of text that the target wrote itself
_NEWEST = 24  # shards of a kind that are drawn from
_READ = 100  # shards that are kept open
_SHARE = 0.75  # of the texts are answers, if there are others too


class Taught(NamedTuple):
    """A text with the teacher's distributions after its tokens, from position `begin` on. After the
    last token of an answer there is none.

    tokens: (n,) int32. ids: (n, TOP) int32, the most probable tokens. logs: (n, TOP) float16, the
    natural logarithms of their probabilities.
    """

    tokens: torch.Tensor
    ids: torch.Tensor
    logs: torch.Tensor
    begin: int


def save(path: Path, value: Any) -> None:
    """Write `value` to the file `path`, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    torch.save(value, unfinished)
    unfinished.replace(path)


def write_shard(path: Path, texts: list[Taught]) -> None:
    """Write `texts` to the file `path`, and print its name, which is the kind of text, a hyphen and
    a number."""
    # clones, because a part of a tensor would be saved with all of that tensor
    save(path, [(*(part.cpu().clone() for part in text[:3]), text.begin) for text in texts])
    print(f"taught {len(texts)} texts: {path}", flush=True)


@lru_cache(_READ)
def read_shard(path: Path) -> list[Taught]:
    """The texts in the file `path`. Their numbers are read when they are used."""
    return [Taught(*text) for text in torch.load(path, mmap=True)]


def batches(folder: Path, size: int, step: int) -> Iterator[list[Taught]]:
    """The batches of `size` texts from training step `step` on, drawn from the newest shards of
    each kind in `folder`, without end. What was often drawn before would be learnt by heart."""
    for number in count(step):
        names = groupby(sorted(path.name for path in folder.glob("*.pt")), shard_kind)
        kinds = {kind: [*same][-_NEWEST:] for kind, same in names}
        shares = [_SHARE if kind == ANSWERS else (1 - _SHARE) / len(kinds) for kind in kinds]
        chance = random.Random(number)
        drawn = map(chance.choice, chance.choices([*kinds.values()], shares, k=size))
        yield [chance.choice(read_shard(folder / name)) for name in drawn]


def shard_kind(name: str) -> str:
    """What the texts of the shard called `name` are."""
    return name.partition("-")[0]


def most_frequent(folder: Path, count: int, vocab: int) -> torch.Tensor:
    """The ids, in increasing order, of the `count` most frequent tokens in the shards in `folder`.
    Of equally frequent ones, those with lower ids come first."""
    tokens = [text.tokens for path in folder.glob("*.pt") for text in read_shard(path)]
    seen = torch.bincount(torch.cat(tokens), minlength=vocab)
    return seen.argsort(descending=True, stable=True)[:count].sort().values
