"""How large a model, how long, how fast: the numbers of a training run and the schedule. Plain
values, nothing of torch.

A run is bounded by tokens. Its learning rate stays constant after warm-up, so the run can be
stopped, paused and prolonged at will; the decay to zero is a run of its own that starts from a
checkpoint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from .. import validate_input
from ..errors import BadTraining

WARMUP_STEPS = 100
MAX_POSITIONS = 2048


def whole(what: str, value: Any, low: int, high: int) -> int:
    """`value` if it is a whole number from `low` to `high`, or BadTraining."""
    return validate_input.whole(value, what, low, high, BadTraining)


def positive(what: str, value: Any, high: float) -> float:
    """`value` if it is a number above 0 and at most `high`, or BadTraining."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= high:
        raise BadTraining(f"{what}: {str(value)[:40]} is not a number above 0 and at most {high:g}")
    return float(value)


def finite(what: str, value: float) -> float:
    """`value`, or BadTraining where training has blown up."""
    if not math.isfinite(value):
        raise BadTraining(f"{what} is {value}, not a finite number; a lower --peak helps")
    return value


@dataclass(frozen=True)
class Size:
    """A Llama network: `hidden` must be `heads` times an even head size (rotary positions turn
    pairs).
    """

    hidden: int
    layers: int
    heads: int
    mlp: int

    def __post_init__(self) -> None:
        for name, high in (("hidden", 8192), ("layers", 128), ("heads", 128), ("mlp", 65_536)):
            whole(f"{name} of the model", getattr(self, name), 1, high)
        if self.hidden % (2 * self.heads):
            raise BadTraining(
                f"hidden {self.hidden} is no multiple of {2 * self.heads}, twice the "
                f"{self.heads} heads"
            )

    @classmethod
    def parse(cls, text: str) -> Size:
        """From "hidden,layers,heads,mlp"."""
        parts = text.split(",")
        if len(parts) != 4 or not all(part.strip().isdecimal() for part in parts):
            raise BadTraining(
                f"size {text[:60]!r} is not four whole numbers: hidden,layers,heads,mlp"
            )
        return cls(*map(int, parts))


@dataclass(frozen=True)
class Schedule:
    """When a run ends and how its learning rate goes.

    end: tokens trained on at the end, counted from the first step of all. decay_from: the token
    count at which the rate begins to fall; None in a run at a constant rate.
    """

    end: int
    decay_from: int | None = None

    def __post_init__(self) -> None:
        low = 1 if self.decay_from is None else self.decay_from + 1
        whole("tokens", self.end, low, 10**12)

    def is_done(self, tokens: int) -> bool:
        return tokens >= self.end

    def share(self, step: int, tokens: int) -> float:
        """Share of the peak rate for step number `step`, counted from 1, before which there were
        `tokens`.

        Constant after warm-up. In a decay 1 - sqrt(share done), which ends lower than a line
        (Haegele et al. 2024, arXiv 2405.18392).
        """
        if self.decay_from is None:
            return min(1.0, step / WARMUP_STEPS)
        done = (tokens - self.decay_from) / (self.end - self.decay_from)
        return max(0.0, 1 - math.sqrt(done))


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training run besides the text, the tokenizer and the length.

    peak: learning rate after warm-up. batch x context: rows of a step and tokens of each.
    seed: weights and the order of the text.
    """

    size: Size
    peak: float
    batch: int = 64
    context: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        positive("peak learning rate", self.peak, 1)
        whole("batch", self.batch, 1, 65_536)
        whole("context", self.context, 8, MAX_POSITIONS)
        whole("seed", self.seed, 0, 2**63 - 1)

    def longer(self) -> Recipe:
        """The same tokens a step in half as many rows of twice the length, where both can be:
        for the decay.
        """
        if self.batch == 1 or 2 * self.context > MAX_POSITIONS:
            return self
        return replace(self, batch=self.batch // 2, context=2 * self.context)


TARGET = Recipe(Size(384, 8, 6, 1024), peak=3e-3)
DRAFT = Recipe(Size(256, 2, 4, 688), peak=4e-3)
TARGET_TOKENS = 60_000_000
DRAFT_TOKENS = 20_000_000
DECAY_SHARE = 0.25  # of the tokens at the constant rate
