"""The words of all experiments: titles, notes, labels, and what a result says."""

from __future__ import annotations

from ui.experiments.words.budget import BUDGET
from ui.experiments.words.chain import TREE_OR_CHAIN
from ui.experiments.words.hardware import HARDWARE
from ui.experiments.words.ranks import RANKS
from ui.experiments.words.specinfer import SPECINFER
from ui.experiments.words.verifiers import TEMPERATURE_WORDS, TOP_P_WORDS
from ui.experiments.words.view import Words

WORDS: dict[str, Words] = {
    "budget": BUDGET,
    "temperature": TEMPERATURE_WORDS,
    "top-p": TOP_P_WORDS,
    "ranks": RANKS,
    "specinfer": SPECINFER,
    "hardware": HARDWARE,
    "chain": TREE_OR_CHAIN,
}
