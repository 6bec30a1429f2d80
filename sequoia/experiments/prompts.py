"""The prompts of the experiments: other texts than those that trees are planned on."""

from __future__ import annotations

from sequoia.assets_folder import ASSETS
from sequoia.bench.prompts import text_list

FOLDER = ASSETS / "experiments" / "prompts"
KINDS = ("code", "prose")


def prompts_of(kind: str) -> list[str]:
    """The prompts of one of KINDS."""
    return text_list(kind, FOLDER)
