"""What a task found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Found:
    """words: one sentence for the table. figures: JSON values by name. is_right: False if a
    check did not pass: the stage has then failed."""

    words: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    is_right: bool = True
