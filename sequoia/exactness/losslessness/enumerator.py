"""The exact output distribution of code that draws random numbers. The code is run once for each
combination of outcomes, with an Enumerator in place of the random numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from sequoia.errors import SequoiaError

Distribution = dict[Hashable, Any]


class TooManyOutcomes(SequoiaError):
    """There are too many combinations of random outcomes to enumerate."""


class Enumerator:
    """A Chance (see algorithm/sampling.py) for one combination of outcomes. It chooses the outcomes
    whose numbers are in `script`, and outcome 0 after the script's end. weight: the probability of
    the combination, exact if the distributions contain Fractions."""

    def __init__(self, script: Sequence[int] = ()) -> None:
        self.weight: Any = Fraction(1)
        self._script = script
        self._taken: list[tuple[int, int]] = []  # (outcome number, number of outcomes)

    def choose(self, weights: Iterable[Any]) -> int:
        """Index of the chosen outcome in `weights`, which need not sum to 1. Outcomes of weight 0
        are never chosen and have no number in a script."""
        weights = list(weights)
        options = [index for index, weight in enumerate(weights) if weight > 0]
        turn = len(self._taken)
        number = self._script[turn] if turn < len(self._script) else 0
        self._taken.append((number, len(options)))
        self.weight *= weights[options[number]] / sum(weights)
        return options[number]

    def following(self) -> list[int] | None:
        """The script of the next combination of outcomes, or None after the last."""
        taken = list(self._taken)
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        return [number for number, _ in taken[:-1]] + [taken[-1][0] + 1] if taken else None

    # -- the four operations of a Chance -----------------------------------------------------------

    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        # probability of u * d < r, with u uniform on [0, 1)
        share = min(r / d, Fraction(1)) if d > 0 else Fraction(int(r > 0))
        return self.choose((1 - share, share)) == 1, None

    def pick(self, weights: Any) -> int:
        return self.choose(weights.tolist())

    def without_replacement(self, q: Any, counts: Sequence[int]) -> list[list[int]]:
        return [self._successive(row, count) for row, count in zip(q.tolist(), counts, strict=True)]

    def independent(self, q: Any, counts: Sequence[int]) -> list[list[int]]:
        return [
            [self.choose(row) for _ in range(count)]
            for row, count in zip(q.tolist(), counts, strict=True)
        ]

    def _successive(self, row: list[Any], k: int) -> list[int]:
        order: list[int] = []
        for _ in range(k):
            left = [0 if token in order else weight for token, weight in enumerate(row)]
            order.append(
                self.choose(
                    left
                    if any(left)
                    else [Fraction(token not in order) for token in range(len(row))]
                )
            )
        return order


def distribution(
    run: Callable[[Any], Hashable],
    chance: Callable[[Sequence[int]], Enumerator] = Enumerator,
    most: int | None = None,
) -> Distribution:
    """The probability of each result of `run`, a function of a Chance. chance: makes the Enumerator
    for a script. Raises TooManyOutcomes if there are more than `most` combinations of outcomes."""
    total: Distribution = {}
    script: Sequence[int] | None = ()
    visited = 0
    while script is not None:
        if visited == most:
            raise TooManyOutcomes(f"there are more than {most} combinations of random outcomes")
        replay = chance(script)
        result = run(replay)
        total[result] = total.get(result, 0) + replay.weight
        script = replay.following()
        visited += 1
    return total
