"""The result of a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Found:
    """The result of a task. words: one sentence for the table. figures: JSON values by name.
    is_right: False if a check did not pass, which makes the stage fail."""

    words: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    is_right: bool = True
