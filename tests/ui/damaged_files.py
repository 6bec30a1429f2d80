"""Files of every kind that the page opens, damaged in many ways. The same seed always gives the
same damaged file."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SAVED = Path(__file__).resolve().parents[1] / "saved"
KINDS = ("runs", "races", "profiles", "trees")
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_VALUES: list[Any] = [
    *(None, True, -1, 0, 2**31, 2**63, 10**400, 1e308, -1e-320, 0.5, "", "x", [], {}, [[]]),
    *(float("nan"), float("inf"), "\u0000", "\ud800", "<script>", "a" * 200_000, [0] * 100_000),
]


@dataclass(frozen=True)
class Damaged:
    """kind: the kind of the file before the damage, one of KINDS. how: what was done to it."""

    kind: str
    how: str
    data: bytes


def damaged_files(count: int) -> Iterator[Damaged]:
    """Yields `count` files. The entries of DAMAGES take turns, and so do the kinds. The seed of a
    file is its index. It chooses which saved file of the kind is damaged, and where."""
    ways = [*DAMAGES.items()]
    for seed in range(count):
        choice = random.Random(seed)
        kind = KINDS[seed // len(ways) % len(KINDS)]
        files = sorted((SAVED / kind).glob("*.json"))
        how, damage = ways[seed % len(ways)]
        yield Damaged(
            kind, f"{how}, seed {seed}", damage(choice.choice(files).read_bytes(), choice)
        )


# -- on bytes --------------------------------------------------------------------------------------


def random_bytes(data: bytes, choice: random.Random) -> bytes:
    """Up to 20 bytes replaced by random ones."""
    changed = bytearray(data)
    for _ in range(choice.randint(1, 20)):
        changed[choice.randrange(len(changed))] = choice.randrange(256)
    return bytes(changed)


def cut_short(data: bytes, choice: random.Random) -> bytes:
    return data[: choice.randrange(len(data))]


def piece_twice(data: bytes, choice: random.Random) -> bytes:
    """A piece of the file inserted again at a random place."""
    start, place = choice.randrange(len(data)), choice.randrange(len(data))
    return data[:place] + data[start : start + choice.randint(1, 400)] + data[place:]


def other_number(data: bytes, choice: random.Random) -> bytes:
    """One number replaced by another number, perhaps a huge one, or by text that is not JSON."""
    found = choice.choice([*_NUMBER.finditer(data)])
    new = choice.choice(
        [b"1e999", b"-0", b"NaN", b"-Infinity", b"9" * 5000, b"9" * 5, b"1e-999", b"0x10", b"01"]
    )
    return data[: found.start()] + new + data[found.end() :]


def deep(data: bytes, choice: random.Random) -> bytes:
    """A number replaced by nested lists or objects."""
    found = choice.choice([*_NUMBER.finditer(data)])
    opener, closer = choice.choice([(b"[", b"]"), (b'{"a":', b"}")])
    levels = choice.choice([5, 11, 40, 2000, 100_000])
    nest = opener * levels + b"1" + closer * levels
    return data[: found.start()] + nest + data[found.end() :]


# -- on values -------------------------------------------------------------------------------------


def on_values(
    change: Callable[[Any, Any, random.Random], None],
) -> Callable[[bytes, random.Random], bytes]:
    """A way of damage: `change` is called with a random list or object of the file, with one of its
    indices or keys, and with the source of randomness."""

    def damage(data: bytes, choice: random.Random) -> bytes:
        value = json.loads(data)
        places = [*_places(value)]
        change(*choice.choice(places), choice)
        return json.dumps(value).encode()

    return damage


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every list and object inside `value`, itself included, with each of its indices or keys."""
    keys = [*value] if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], list | dict):
            yield from _places(value[key])


def _other_value(holder: Any, key: Any, choice: random.Random) -> None:
    holder[key] = choice.choice(_VALUES)


def _swapped(holder: Any, key: Any, choice: random.Random) -> None:
    other = choice.choice([*holder] if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]


def _left_out(holder: Any, key: Any, choice: random.Random) -> None:
    del holder[key]


def _many(holder: Any, key: Any, choice: random.Random) -> None:
    holder[key] = [holder[key]] * choice.choice([2, 300, 20_000])


def repeated_key(data: bytes, choice: random.Random) -> bytes:
    """A key of the outermost object added again at the end, with a random value."""
    value = json.loads(data)
    key = choice.choice([*value]) if isinstance(value, dict) and value else "format"
    other = json.dumps(choice.choice(_VALUES))
    return data.rstrip()[:-1] + f', "{key}": {other}}}'.encode()


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "random bytes": random_bytes,
    "cut short": cut_short,
    "a piece twice": piece_twice,
    "another number": other_number,
    "deep": deep,
    "another value": on_values(_other_value),
    "values swapped": on_values(_swapped),
    "a value left out": on_values(_left_out),
    "a value many times": on_values(_many),
    "a key twice": repeated_key,
}
