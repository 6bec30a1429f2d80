"""Policy: what is asked of one decoding run, checked in one place. Whatever a person typed becomes a value here or a BadPolicy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from .errors import BadPolicy

BOUNDS: dict[str, tuple[type, float, float]] = {
    "temperature": (float, 0.0, 5.0),
    "top_p": (float, 0.01, 1.0),
    "max_new_tokens": (int, 1, 4096),
    "seed": (int, 0, 2**63 - 1),
}


@dataclass(frozen=True)
class Policy:
    """One request. Raises BadPolicy naming the field, the value and the bound.

    temperature: 0 takes the most probable token, otherwise logits are divided by it.
    top_p: only the smallest set of most probable tokens with at least this mass is kept (1 keeps all).
    max_new_tokens: tokens emitted at most. seed: fixes every random draw of the run.
    ignore_eos: decode on through the end-of-text token, as benchmarks do.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_new_tokens: int = 128
    seed: int = 0
    ignore_eos: bool = False

    def __post_init__(self) -> None:
        for name, (kind, low, high) in BOUNDS.items():
            object.__setattr__(self, name, _number(name, getattr(self, name), kind, low, high))
        if not isinstance(self.ignore_eos, bool):
            raise BadPolicy(f"ignore_eos must be true or false, not {str(self.ignore_eos)[:40]!r}")

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Policy:
        """A policy from untrusted names and values, such as a web form or a run file."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(map(str, values)) - known):
            raise BadPolicy(f"unknown settings {unknown}; known are {sorted(known)}")
        return cls(**values)


def _number(name: str, value: Any, kind: type, low: float, high: float) -> Any:
    bound = f"{name} must be {'a whole' if kind is int else 'a'} number from {low:g} to {high:g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadPolicy(f"{bound}, not {str(value)[:40]!r}")
    if not math.isfinite(value) or not low <= value <= high or (kind is int and value != int(value)):
        raise BadPolicy(f"{bound}, not {value}")
    return kind(value)
