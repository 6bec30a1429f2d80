"""The text with which a model is checked: ordinary English and code, because rounding is different
for token sequences that no text contains."""

from __future__ import annotations

import random
from collections.abc import Sequence

TEXT = '''The ferry leaves at half past seven, and on most mornings the same people take it. A woman
with two dogs stands near the rail; a teacher corrects essays on her knees. "You could have told me
that yesterday," somebody says, but the engine is too loud for an answer. In winter the crossing
takes almost an hour, because the captain keeps away from the ice. Nobody minds: there is hot tea,
and the newspapers of three towns.

def average_speed(stops: list[tuple[str, float, float]]) -> dict[str, float]:
    """Kilometres per hour between each stop and the next one."""
    result = {}
    for (name, start, distance), (_, end, _) in zip(stops, stops[1:]):
        if end <= start:
            raise ValueError(f"{name}: the clock went backwards")
        result[name] = distance / (end - start) * 60
    return result

# Prices rose by 3.2% in 2019 and fell again a year later. Is that much? It depends on what you buy.
for row in sorted(table, key=lambda row: -row["price"])[:10]:
    print(row["name"], round(row["price"], 2), sep="\\t")

If the lamp does not light up, first check the plug, then the fuse. Write down the number on the
back of the box before you call us; without it we cannot find your order.
'''
TRIES = 3  # pieces of the text, in all of which a fault must appear
_RANDOM = 512  # token ids, where there is no tokenizer


class SampleText:
    """Token ids of the text, in any number of pieces. ids: TEXT in the model's own tokenizer; if
    empty, random ids. vocab: ids must be below it."""

    def __init__(self, ids: Sequence[int], vocab: int) -> None:
        known = [token for token in ids if token < vocab]
        self.ids = known or random.Random(0).choices(range(vocab), k=_RANDOM)

    def piece(self, length: int, number: int) -> list[int]:
        """The `number`th piece of `length` tokens. After its end the text starts again."""
        return [self.ids[(number * length + i) % len(self.ids)] for i in range(length)]

    def others(self, tokens: Sequence[int]) -> list[int]:
        """For each of `tokens`, another token of the text."""
        return [
            next(one for one in self.ids[i:] + self.ids if one != token)
            for i, token in enumerate(tokens, 7)
        ]
