"""Sentences of the Paper tab: what its simulations assume, and how a claim's verdict is found."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from sequoia.experiments.claims import CLOSE, ENOUGH, MOST, STRAIGHT
from sequoia.experiments.result import Ratio, score
from ui.words.figures import signed

INTRODUCTION = ": its claims, and what comes out here."  # follows the paper's title
OF_CLAIMS = (
    "Simulated: the paper’s tokens per step, with step times predicted for its machine. Recorded: "
    "measured earlier with the bundled pair. Gains: the median of all cases and their range, then "
    "in how many cases the gain is clear (its 95% interval excludes 0). Press a claim to read how "
    "its verdict is found."
)
OF_SIMULATIONS = (
    "Sequoia and SpecInfer each have a rule for accepting tokens, and SpecInfer has trees of its "
    "own (“5 × 8”: 5 independent sequences of 8 tokens). Top-k match is a third rule: the children "
    "are the small model’s most probable tokens, the large model samples a token itself, and a "
    "child is kept only if it is that token. Tokens per step and the tree’s size are the paper’s."
)
OF_SWEEPS = (
    "Green: the best in its table. Empty: not in the paper. Nothing is simulated here: "
    "a simulation needs the tokens per step, which these tables do not give."
)
OF_SCALE = (
    "A card cannot read a model’s weights faster than its memory allows: that is the floor of "
    "plain decoding, 1 on this scale. Only speculation can pass it. A large speed-up may come from "
    "a slow baseline."
)

# How the verdict on a claim is found, by its rule.
RULES = {
    "better": (
        f"Holds if clearly better in at least {MOST:.0%} of the cases (the 95% interval of the "
        f"gain excludes 0) and clearly worse in none, and if the largest gain is at least "
        f"{ENOUGH:.0%} of the paper’s, if it states one. In part: clearly better more often than "
        "clearly worse."
    ),
    "table": (
        f"Holds if every simulated speed-up of Sequoia is within {CLOSE:.0%} of the paper’s; in "
        "part if most are. This tests the times of steps: the tokens per step are the paper’s."
    ),
    "power law": (
        f"Holds if a line through the logarithms has R² ≥ {STRAIGHT:g} for Sequoia’s verifier on "
        "all texts; in part if on most."
    ),
    "tuned": (
        f"Holds if at least {1 - CLOSE:.0%} of the speed-up is left with a tuned baseline on the "
        "same kind of card; in part if it is still faster."
    ),
    "lossless": (
        "Holds if the test accepts the correct decoder and finds a decoder with a bug. The tests "
        "also enumerate every outcome exactly."
    ),
}


def gain_words(ratios: Sequence[Ratio]) -> str:
    """The median gain, the smallest and the largest, and in how many cases there is a clear gain:
    "+11% (−3% to +41%), clear in 27 of 36"."""
    gains = [one.ratio.mean - 1 for one in ratios]
    found = score(ratios)
    spread = f"{signed(min(gains))} to {signed(max(gains))}"
    return f"{signed(median(gains))} ({spread}), clear in {found.higher} of {found.total}"


def range_words(speedups: Sequence[float]) -> str:
    """The smallest and the largest of some speed-ups: "2.71–4.04×"."""
    return f"{min(speedups):.2f}–{max(speedups):.2f}×"


def tuned_words(speedup: float) -> str:
    return f"not run here; by published times, {speedup:.2f}× over gpt-fast"


def lossless_words(p_value: float) -> str:
    return f"p-value {p_value:.2f}; planted bug found"
