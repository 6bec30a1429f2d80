"""What a verification decided, and the trials it took. Knows no rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Trial:
    """One drafted child held against the target.

    p and q are the two laws' weights of its token *at that moment* (p: the residual R, q: the draft
    law D without the tokens tried before). Accepted when u * q < p. `mass` is the total of
    max(R - D, 0) after a rejection: the share of the target's law that the draft had not covered;
    None after an acceptance.
    """

    node: int
    token: int
    p: Any
    q: Any
    u: float | None
    accepted: bool
    mass: Any = None


@dataclass(frozen=True)
class Verdict:
    """What a step decided: accepted nodes from the root on, the one token the target adds, and
    every trial in order."""

    path: tuple[int, ...]
    bonus: int
    trials: tuple[Trial, ...]
