"""The texts of the experiments. Prompts to measure with are excerpts that no bundled model was
trained on, and those of the benchmark; trees are planned on other texts, those of the survey."""

from __future__ import annotations

from functools import cache

from sequoia.assets_folder import ASSETS
from sequoia.bench.pair_judge import excerpts_of
from sequoia.bench.prompts import text_list

KINDS = ("code", "prose")
MAX_PROMPTS = 28  # of each kind


@cache
def prompts_of(kind: str) -> tuple[str, ...]:
    """The prompts of one of KINDS to measure with, the excerpts first."""
    excerpts = excerpts_of(ASSETS / "judge", kind)
    return (*(one.prompt for one in excerpts), *text_list(kind, ASSETS / "bench"))


@cache
def planning_prompts(kind: str) -> tuple[str, ...]:
    """The prompts of one of KINDS to plan trees on."""
    return tuple(text_list(kind, ASSETS / "survey"))
