"""The prompts of the experiments. Measurements use the excerpts in assets/judge and the prompts of
the benchmark. No bundled model was trained on the excerpts. Trees are planned on different texts:
the prompts of the acceptance survey (sequoia/survey.py)."""

from __future__ import annotations

from functools import cache

from sequoia.assets_folder import ASSETS
from sequoia.bench.command import text_list
from sequoia.text_files import load_json

KINDS = ("code", "prose")
MAX_PROMPTS = 28  # of each kind; there are only 28 of prose


@cache
def prompts_of(kind: str) -> tuple[str, ...]:
    """The prompts to measure with, excerpts first. kind: one of KINDS."""
    excerpts = load_json(ASSETS / "judge" / f"{kind}.json")
    return (*(one["prompt"] for one in excerpts), *text_list(kind, ASSETS / "bench"))


@cache
def planning_prompts(kind: str) -> tuple[str, ...]:
    """The prompts to plan trees on. kind: one of KINDS."""
    return tuple(text_list(kind, ASSETS / "survey"))
