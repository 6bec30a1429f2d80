"""Policy: what is asked of one decoding run, checked in one place.

Whatever a person typed becomes a value here or a BadPolicy. Knows nothing of models or of what the settings do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from .errors import BadPolicy

BOUNDS: dict[str, tuple[type, float, float]] = {
    "temperature": (float, 0, 5),
    "top_p": (float, 0.01, 1),
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
            raise BadPolicy(f"ignore_eos must be true or false, not {_shown(self.ignore_eos)}")

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Policy:
        """A policy from untrusted names and values, such as a web form or a run file."""
        if not isinstance(values, Mapping):
            raise BadPolicy(f"settings must be names with values, not {_shown(values)}")
        known = sorted(field.name for field in fields(cls))
        if unknown := [_shown(name) for name in values if name not in known]:
            raise BadPolicy(f"unknown settings {', '.join(unknown[:4])}; known are {', '.join(known)}")
        return cls(**values)


def _number(name: str, value: Any, kind: type, low: float, high: float) -> Any:
    whole = not isinstance(value, bool) and isinstance(value, int)
    # The comparison comes first: it is false for NaN and infinity, and never turns a huge int into a float.
    if not (whole or isinstance(value, float)) or not low <= value <= high or (kind is int and value != int(value)):
        raise BadPolicy(f"{name} must be {'a whole' if kind is int else 'a'} number from {low} to {high}, not {_shown(value)}")
    return kind(value)


def _shown(value: Any) -> str:
    """`value` for a message: short, whatever it is. Printing a huge int or a deep list would itself be an error."""
    if isinstance(value, str):
        return repr(value[:40])
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    return str(value) if value is None or isinstance(value, int | float) else f"a {type(value).__name__}"
