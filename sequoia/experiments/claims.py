"""Does a claim of the paper hold here? Each rule computes the verdict from recorded or simulated
numbers."""

from __future__ import annotations

from collections.abc import Sequence

from sequoia.experiments.result import Ratio, score

HOLDS = "holds"
IN_PART = "in part"
DIFFERS = "differs"
NOT_TESTED = "not tested"
VERDICTS = (HOLDS, IN_PART, DIFFERS, NOT_TESTED)

ENOUGH = 0.5  # of the paper's gain
MOST = 0.75  # of the cases
CLOSE = 0.1  # deviation from the paper's number
STRAIGHT = 0.9  # R² of a line through logarithms


def better(ratios: Sequence[Ratio], gain: float = 0.0) -> str:
    """Whether the first lane is better. It holds if it is clearly better in at least MOST of the
    cases and clearly worse in none, and its largest gain is at least ENOUGH of the paper's. gain:
    the paper's largest one, 0.33 for a third more; 0 if it states none. "In part": it is better
    more often than worse."""
    found = score(ratios)
    if not found.total:
        return NOT_TESTED
    if found.higher <= found.lower:
        return DIFFERS
    is_most = found.higher >= MOST * found.total and not found.lower
    largest = max(one.ratio.mean for one in ratios) - 1
    return HOLDS if is_most and largest >= ENOUGH * gain else IN_PART


def close(deviations: Sequence[float]) -> str:
    """Whether numbers are those of the paper. deviations: relative, 0.1 for a number that is 10%
    higher. It holds if all are at most CLOSE, in part if most are."""
    return _share([abs(one) <= CLOSE for one in deviations])


def straight(fits: Sequence[float]) -> str:
    """Whether curves are power laws. fits: the R² of each. It holds if all are at least STRAIGHT,
    in part if most are."""
    return _share([one >= STRAIGHT for one in fits])


def over_tuned(claimed: float, found: float) -> str:
    """Whether a speed-up stays with a faster baseline. It holds if at most CLOSE of it is lost, in
    part if it is still one."""
    if found >= (1 - CLOSE) * claimed:
        return HOLDS
    return IN_PART if found > 1 else DIFFERS


def lossless(correct: str, broken: str) -> str:
    """Whether the output is lossless. correct, broken: what a test said of the correct decoder and
    of one with a bug, "fits" or "differs". A test that does not find the bug tests nothing."""
    if broken != "differs" or correct not in ("fits", "differs"):
        return NOT_TESTED
    return HOLDS if correct == "fits" else DIFFERS


def _share(met: Sequence[bool]) -> str:
    if not met:
        return NOT_TESTED
    if all(met):
        return HOLDS
    return IN_PART if 2 * sum(met) > len(met) else DIFFERS
