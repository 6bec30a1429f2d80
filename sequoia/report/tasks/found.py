"""The result of a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Found:
    """words: the result in words, for the table. figures: JSON values by name. is_right: False if a
    check did not pass. The stage then fails."""

    words: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    is_right: bool = True
