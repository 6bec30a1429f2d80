"""Sentences of the Paper tab: what its simulations assume, and how a claim's verdict is found."""

from __future__ import annotations

from collections.abc import Sequence

from sequoia.experiments.claims import CLOSE, ENOUGH, STRAIGHT
from sequoia.experiments.result import Estimate, Ratio, score
from ui.words.figures import signed

INTRODUCTION = ": its claims, and what comes out here."  # follows the paper's title
OF_CLAIMS = (
    "Simulated: the paper’s tokens per step, with step times predicted for its machine. Recorded: "
    "measured earlier with the bundled pair. Gains are the largest ones, with 95% intervals; after "
    "them, in how many cases a gain is clear (its interval excludes 0). Press a claim to read how "
    "its verdict is found."
)
OF_SIMULATIONS = (
    "Sequoia and SpecInfer each have a rule for accepting tokens, and SpecInfer has trees of its "
    "own (“5 × 8”: 5 independent sequences of 8 tokens). Top-k match is a third rule: the children "
    "are the draft’s most probable tokens, the target samples a token itself, and a child is kept "
    "only if it is that token. Tokens per step and the tree’s size are the paper’s."
)
OF_SWEEPS = (
    "Green: the best in its table. Empty: not in the paper. Nothing is simulated here: "
    "a simulation needs the tokens per step, which these tables do not give."
)
NOT_RECORDED = "No result recorded yet."
OF_SCALE = (
    "A card cannot read a model’s weights faster than its memory allows: that is the floor of "
    "plain decoding, 1 on this scale. Only speculation can pass it. A large speed-up may come from "
    "a slow baseline."
)

# How the verdict on a claim is found, by its rule.
RULES = {
    "better": (
        "Holds if clearly better in most cases (the 95% interval of the gain excludes 0) and "
        f"clearly worse in none, with at least {ENOUGH:.0%} of the paper’s largest gain, if it "
        "states one. In part: better more often than worse."
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
    """The largest gain with its interval, and in how many cases there is a clear gain: "+41%
    (+37–46%), 27/36"."""
    best: Estimate = max((one.ratio for one in ratios), key=lambda one: one.mean)
    found = score(ratios)
    interval = ""
    if best.low is not None and best.high is not None:
        ends = f"{signed(best.low - 1)} to {signed(best.high - 1)}"
        interval = f" ({ends.replace('% to +', '–') if best.low > 1 else ends})"
    return f"{signed(best.mean - 1)}{interval}, {found.higher}/{found.total}"


def range_words(speedups: Sequence[float]) -> str:
    """The smallest and the largest of some speed-ups: "2.71–4.04×"."""
    return f"{min(speedups):.2f}–{max(speedups):.2f}×"


def tuned_words(speedup: float) -> str:
    return f"{speedup:.2f}× over gpt-fast"


def lossless_words(p_value: float) -> str:
    return f"p = {p_value:.2f}; planted bug found"
