"""A toy pair of target and draft: distributions p and q over a few words. Neither depends on the
text so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sequoia.errors import BadSamplingParams
from sequoia.exactness.losslessness.table_step import Text
from sequoia.validate_input import shown

LEAST_WORDS = 2
MOST_WORDS = 8
SUM_OFF_BY = 1e-6  # a sum this close to 1 is accepted, because the numbers may be rounded
MOST_CHARS = 200


@dataclass(frozen=True, eq=False)
class Toy:
    """A toy pair. target: p, (vocab,) float64. draft: q, (vocab,) float32. Both sum to 1."""

    target: np.ndarray
    draft: np.ndarray

    @classmethod
    def parse(cls, p: Any, q: Any) -> Toy:
        """The toy with p and q as typed: numbers or fractions, separated by commas or spaces.
        Raises BadSamplingParams with a message that names p or q and the wrong value."""
        target = typed_distribution(p, "p")
        draft = typed_distribution(q, "q")
        if len(draft) != len(target):
            raise BadSamplingParams(
                f"q: {len(draft)} numbers; enter {len(target)} numbers, as for p"
            )
        return cls(target, draft.astype(np.float32))

    @property
    def vocab(self) -> int:
        return len(self.target)

    def p(self, _context: Text) -> np.ndarray:
        return self.target

    def q(self, _context: Text) -> np.ndarray:
        return self.draft


def typed_distribution(text: Any, name: str) -> np.ndarray:
    """The distribution that `text` lists: (words,) float64, sums to 1. Raises BadSamplingParams
    with a message that begins with `name`."""
    if not isinstance(text, str) or len(text) > MOST_CHARS:
        found = f"{len(text)} characters" if isinstance(text, str) else shown(text)
        raise BadSamplingParams(
            f"{name}: {found}; enter up to {MOST_CHARS} characters, such as 0.5, 0.3, 0.2"
        )
    parts = text.replace(",", " ").split()
    if not LEAST_WORDS <= len(parts) <= MOST_WORDS:
        raise BadSamplingParams(
            f"{name}: {len(parts)} numbers; enter {LEAST_WORDS} to {MOST_WORDS} numbers, such as "
            "0.5, 0.3, 0.2"
        )
    values = np.array([_probability(part, name) for part in parts])
    total = values.sum()
    if abs(total - 1) > SUM_OFF_BY:
        raise BadSamplingParams(f"{name}: the numbers sum to {total:.7g} instead of 1")
    return values / total


def _probability(part: str, name: str) -> float:
    top, slash, below = part.partition("/")
    try:
        value = float(top) / float(below) if slash else float(part)
    except (ValueError, ZeroDivisionError):
        raise BadSamplingParams(f"{name}: {shown(part)} is not a number") from None
    if not 0 <= value <= 1:  # also true if the value is NaN
        raise BadSamplingParams(f"{name}: {shown(part)} is not a number from 0 to 1")
    return value
