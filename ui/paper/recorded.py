"""The findings of the recorded experiments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sequoia import SequoiaError
from ui.experiments.messages import recorded_result
from ui.experiments.words import WORDS


@dataclass(frozen=True)
class Finding:
    """The answer to an experiment's question. source: where the numbers come from, such as
    "simulated"."""

    answer: str
    source: str


@cache
def findings() -> dict[str, Finding]:
    """The findings of all recorded experiments by name. A damaged file is skipped."""
    found = {name: _finding(name) for name in WORDS}
    return {name: one for name, one in found.items() if one}


def _finding(name: str) -> Finding | None:
    try:
        result = recorded_result(name)
    except SequoiaError:
        return None
    if result is None:
        return None
    view = WORDS[name].view(result)
    return Finding(view["finding"].split("\n")[0], view["source"])
