"""The settings of a training run: model size, learning rate, batch, length and schedule.

The length of a run is a number of tokens. The learning rate stays constant after the warm-up, so a
run can be paused, stopped and extended at any time. The decay of the learning rate to zero is a
separate run that starts from a checkpoint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from .. import validate_input
from ..errors import BadTraining
from .feed import BLOCK

WARMUP_STEPS = 100
MAX_POSITIONS = 2048


def whole(what: str, value: Any, low: int, high: int) -> int:
    """`value` if it is a whole number from `low` to `high`. Raises BadTraining otherwise, with
    a message that calls the value `what`."""
    return validate_input.whole(value, what, low, high, BadTraining)


@dataclass(frozen=True)
class Size:
    """The size of a Llama network. The head size, `hidden / heads`, must be an even whole number,
    because rotary position embeddings rotate pairs of dimensions."""

    hidden: int
    layers: int
    heads: int
    mlp: int

    def __post_init__(self) -> None:
        for name, high in (("hidden", 8192), ("layers", 128), ("heads", 128), ("mlp", 65_536)):
            whole(f"{name} of the model", getattr(self, name), 1, high)
        if self.hidden % (2 * self.heads):
            raise BadTraining(
                f"hidden {self.hidden} is not a multiple of {2 * self.heads}, which is twice the "
                "number of heads"
            )

    @classmethod
    def parse(cls, text: str) -> Size:
        """The size in `text`, four numbers "hidden,layers,heads,mlp". Raises BadTraining for other
        text."""
        try:
            hidden, layers, heads, mlp = map(int, text.split(","))
        except ValueError:  # also raised for a number of more than 4,300 digits
            raise BadTraining(
                f"size {text[:60]!r} is not four whole numbers: hidden,layers,heads,mlp"
            ) from None
        return cls(hidden, layers, heads, mlp)


@dataclass(frozen=True)
class Schedule:
    """When a run ends, and its learning rate at each step.

    Tokens are counted from the first step of training, so a decay also counts those of the run that
    it continues. end: the number of tokens at which the run ends. decay_from: the number of tokens
    at which the decay starts; None in a run without a decay.
    """

    end: int
    decay_from: int | None = None

    def __post_init__(self) -> None:
        low = 1 if self.decay_from is None else self.decay_from + 1
        whole("tokens", self.end, low, 10**12)

    def is_done(self, tokens: int) -> bool:
        """Whether a run ends after `tokens` tokens."""
        return tokens >= self.end

    def share(self, step: int, tokens: int) -> float:
        """The learning rate of a step, as a fraction of the peak. step: its number, from 1. tokens:
        how many were trained on before this step.

        Without a decay, the result grows linearly during the warm-up and then stays 1. In a decay,
        it is 1 - sqrt(fraction of the decay done). Training ends at a lower loss with this decay
        than with a linear one (Haegele et al. 2024, arXiv 2405.18392).
        """
        if self.decay_from is None:
            return min(1.0, step / WARMUP_STEPS)
        done = (tokens - self.decay_from) / (self.end - self.decay_from)
        return max(0.0, 1 - math.sqrt(done))


@dataclass(frozen=True)
class Recipe:
    """The size of a model and the main settings of its training, without the length.

    peak: learning rate after the warm-up. batch: rows per step. context: tokens per row. seed:
    determines the initial weights and the order of the text.
    """

    size: Size
    peak: float
    batch: int = 64
    context: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        validate_input.number(self.peak, "peak learning rate", 1e-12, 1, BadTraining)
        whole("batch", self.batch, 1, 65_536)
        whole("context", self.context, 8, MAX_POSITIONS)
        whole("seed", self.seed, 0, 2**63 - 1)

    def longer(self) -> Recipe:
        """The recipe for the decay: half as many rows (rounded down), each twice as long. This
        recipe unchanged, if `batch` is 1 or if such rows would be longer than a block of text."""
        if self.batch == 1 or 2 * self.context > BLOCK:
            return self
        return replace(self, batch=self.batch // 2, context=2 * self.context)


TARGET = Recipe(Size(384, 8, 6, 1024), peak=3e-3)
DRAFT = Recipe(Size(256, 2, 4, 688), peak=4e-3)
TARGET_TOKENS = 60_000_000
DRAFT_TOKENS = 20_000_000
DECAY_SHARE = 0.25  # tokens of the decay, as a fraction of the tokens at the constant rate
