"""The tokens that runs emitted."""

from __future__ import annotations

from collections.abc import Iterable

from sequoia import StepTrace


def emitted(steps: Iterable[StepTrace]) -> list[int]:
    return [token for step in steps for token in step.emitted]
