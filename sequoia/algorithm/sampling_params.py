"""SamplingParams: the settings of one decoding run, validated in one place.

Whatever a user typed becomes a valid value here or raises BadSamplingParams. Independent of models
and of the code that uses the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sequoia import validate_input
from sequoia.errors import BadSamplingParams

MOST_TOKENS = 4096  # of one run
GREATEST_SEED = 2**63 - 1
# name -> (validation, minimum, maximum)
BOUNDS: dict[str, tuple[Any, float, float]] = {
    "temperature": (validate_input.number, 0, 5),
    "top_p": (validate_input.number, 0.01, 1),
    "max_new_tokens": (validate_input.whole, 1, MOST_TOKENS),
    "seed": (validate_input.whole, 0, GREATEST_SEED),
}


@dataclass(frozen=True)
class SamplingParams:
    """The settings of one run. Raises BadSamplingParams naming the field and the invalid value.

    temperature: logits are divided by it; 0 always chooses the most probable token.
    top_p: only the smallest set of most probable tokens with at least this total probability can be
        emitted. 1 allows all tokens.
    max_new_tokens: the maximum number of emitted tokens.
    seed: determines every random draw of the run.
    ignore_eos: whether the run continues after an end-of-text token, as in benchmarks.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_new_tokens: int = 128
    seed: int = 0
    ignore_eos: bool = False

    def __post_init__(self) -> None:
        for name, (check, low, high) in BOUNDS.items():
            object.__setattr__(
                self, name, check(getattr(self, name), name, low, high, BadSamplingParams)
            )
        if not isinstance(self.ignore_eos, bool):
            raise BadSamplingParams(
                f"ignore_eos: {validate_input.shown(self.ignore_eos)} is neither true nor false"
            )

    def further(self, by: int) -> SamplingParams:
        """The same settings with the seed increased by `by`. The largest seed is followed by 0."""
        return replace(self, seed=(self.seed + by) % (GREATEST_SEED + 1))

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> SamplingParams:
        """SamplingParams from untrusted names and values, such as those of a web form or a run
        file."""
        if not isinstance(values, Mapping):
            raise BadSamplingParams(
                f"settings must map names to values, not be {validate_input.shown(values)}"
            )
        known = sorted(field.name for field in fields(cls))
        if unknown := [validate_input.shown(name) for name in values if name not in known]:
            raise BadSamplingParams(
                f"unknown settings {', '.join(unknown[:4])}; known: {', '.join(known)}"
            )
        return cls(**values)
