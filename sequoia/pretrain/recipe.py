"""How large a model, how long, how fast: the numbers of a training run and the schedule. Plain values, nothing of torch.

`progress` goes from 0 to 1 with the time or the tokens that the bound allows, and the schedule depends on it alone after
warm-up, so one recipe serves a run of two minutes and one of ten hours.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from .. import guarded
from ..errors import BadTraining

WARMUP_STEPS = 100
DECAY_FROM = 0.6
MAX_POSITIONS = 2048


def whole(what: str, value: Any, low: int, high: int) -> int:
    """`value` if it is a whole number from `low` to `high`, or BadTraining."""
    return guarded.whole(value, what, low, high, BadTraining)


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
    """A Llama network: `hidden` must be `heads` times an even head size (rotary positions turn pairs)."""

    hidden: int
    layers: int
    heads: int
    mlp: int

    def __post_init__(self) -> None:
        for name, high in (("hidden", 8192), ("layers", 128), ("heads", 128), ("mlp", 65_536)):
            whole(f"{name} of the model", getattr(self, name), 1, high)
        if self.hidden % (2 * self.heads):
            raise BadTraining(f"hidden {self.hidden} is no multiple of {2 * self.heads}, twice the {self.heads} heads")

    @classmethod
    def parse(cls, text: str) -> Size:
        """From "hidden,layers,heads,mlp"."""
        parts = text.split(",")
        if len(parts) != 4 or not all(part.strip().isdecimal() for part in parts):
            raise BadTraining(f"size {text[:60]!r} is not four whole numbers: hidden,layers,heads,mlp")
        return cls(*map(int, parts))


@dataclass(frozen=True)
class Bound:
    """When to stop: after so many seconds of training, or so many tokens; exactly one of the two is set."""

    seconds: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if (self.seconds is None) == (self.tokens is None):
            raise BadTraining(f"a run is bounded by seconds or by tokens, not {self.seconds} seconds and {self.tokens} tokens")
        if self.tokens is None:
            positive("seconds", self.seconds, 1e8)
        else:
            whole("tokens", self.tokens, 1, 10**12)

    def progress(self, seconds: float, tokens: int) -> float:
        """Share of the bound that is used; 1 and over means done."""
        return tokens / self.tokens if self.tokens else seconds / (self.seconds or math.inf)


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training run besides the text and the tokenizer.

    peak: learning rate after warm-up. batch x context: shape of a step. long_from: share of the run after which
    sequences are twice as long and half as many; 1 keeps the shape. seed: weights and crops.
    """

    size: Size
    peak: float
    long_from: float
    batch: int = 32
    context: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        positive("peak learning rate", self.peak, 1)
        positive("long_from", self.long_from, 1)
        whole("batch", self.batch, 1, 65_536)
        whole("context", self.context, 8, MAX_POSITIONS // 2)
        whole("seed", self.seed, 0, 2**63 - 1)

    def shape(self, progress: float) -> tuple[int, int]:
        """(sequences, tokens of each) of a step."""
        if progress < self.long_from or self.batch == 1:
            return self.batch, self.context
        return self.batch // 2, 2 * self.context

    def rate(self, step: int, progress: float) -> float:
        """Learning rate of step number `step`, counted from 1: up over the first steps, flat, then down to 0 in a line."""
        return self.peak * min(1.0, step / WARMUP_STEPS, max(0.0, 1 - progress) / (1 - DECAY_FROM))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


TARGET = Recipe(Size(384, 8, 6, 1024), peak=3e-3, long_from=0.75)
DRAFT = Recipe(Size(256, 2, 4, 688), peak=4e-3, long_from=1.0)
TARGET_SECONDS, DRAFT_SECONDS = 4300.0, 1080.0  # what the bundled pair took
