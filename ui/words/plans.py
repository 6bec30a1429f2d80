"""Sentences about plans: why a tree is the best, why a run was not as fast as predicted, how a tree
was chosen, and what is predicted of a draft."""

from __future__ import annotations

import math

from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import CheckedPrediction
from sequoia.measuring.defaults import SLACK
from sequoia.planning.compare_plans import fastest, runner_up
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import Plan, SpeedupGrid
from sequoia.saved_files.race_results import PARTS
from ui.words.figures import as_shown, size_words, text_words, time_words, token_words


def why(grid: SpeedupGrid, profile: HardwareProfile) -> str:
    """Sentences about the tree of the fastest cell of `grid` and about the runner-up, if there is
    one. The warning of `calibration_words` follows."""
    best = fastest(grid)
    words = _best_words(best)
    if second := runner_up(grid):
        words += f". The runner-up, {size_words(second.tree)}, is {_trade(second, best)}"
    return f"{words}. {calibration_words(best.tree, profile)}".rstrip()


def calibration_words(tree: Tree, profile: HardwareProfile) -> str:
    """A warning if `tree` is larger than every tree whose time was measured or compared with a
    measurement. Empty otherwise, and for plain decoding."""
    most = profile.calibrated_up_to
    if len(tree) <= max(most, 1):
        return ""
    if not most:
        return "These times are simulated; none of them was checked against a measurement."
    return (
        f"Times are known up to {most} node{'s' * (most != 1)}; for {len(tree)} nodes they are "
        "extrapolated."
    )


def _best_words(best: Plan) -> str:
    if len(best.tree) == 1:
        return (
            f"Best: plain decoding, one token in {time_words(best.predicted_seconds)}. No tree of "
            "these sizes is faster"
        )
    return (
        f"Best: {size_words(best.tree)}. {best.expected_tokens:.2f} tokens in "
        f"{time_words(best.predicted_seconds)} = {best.predicted_speedup:.2f}× plain decoding"
    )


def _trade(rival: Plan, best: Plan) -> str:
    """How fast `rival` is compared with `best`, and what a step gains and loses: "1.32% slower: a
    step gives 0.21 more tokens and takes 1.4 ms longer"."""
    tokens = rival.expected_tokens - best.expected_tokens
    seconds = rival.predicted_seconds - best.predicted_seconds
    return (
        f"{_slower(rival, best)}: a step gives {token_words(abs(tokens))} "
        f"{'more' if tokens > 0 else 'fewer'} tokens and takes {time_words(abs(seconds))} "
        f"{'less' if seconds < 0 else 'longer'}"
    )


def _slower(rival: Plan, best: Plan) -> str:
    share = 1 - rival.predicted_speedup / best.predicted_speedup
    return "practically as fast" if share < 5e-4 else f"{share:.2%} slower"


def chain_words(gains: tuple[float, float] | None) -> str:
    """Why a planned tree is a chain. gains: as `chain_gains` returns them. Empty for None."""
    if gains is None:
        return ""
    last, second = map(token_words, gains)
    return (
        f"A chain: its last node is predicted to add {last} tokens per step, a second child of the "
        f"root only {second}."
    )


# -- predicted and measured ------------------------------------------------------------------------


def prediction_words(found: CheckedPrediction, measured: float) -> str:
    """Both speed-ups; `effects` says what explains the difference. measured: the speed-up of the
    run's verdict, or that of the measured step if plain decoding was not timed."""
    base = (
        ", measured"
        if found.plain_measured
        else "; with the measured steps and the profile's time per plain token,"
    )
    return f"Predicted {found.predicted.speedup:.2f}×{base} {measured:.2f}×."


def effects(found: CheckedPrediction) -> dict[str, str]:
    """The effect of each part: "1.2 ms more: alone, this would give 1.50× instead of 1.90×"."""
    return {part: _effect_words(found, part) for part in PARTS}


def _effect_words(found: CheckedPrediction, part: str) -> str:
    predicted, measured = getattr(found.predicted, part), getattr(found.measured, part)
    if math.isclose(predicted, measured, rel_tol=0.005):
        return "as predicted"
    words = difference(part, predicted, measured)
    if math.isclose(found.alone[part], found.predicted.speedup, rel_tol=0.005):
        return f"{words}, hardly any effect"
    return (
        f"{words}: alone, this would give {found.alone[part]:.2f}× instead of "
        f"{found.predicted.speedup:.2f}×"
    )


def difference(part: str, predicted: float, measured: float) -> str:
    """The measured value compared with the predicted one: "1.2 ms more", "0.31 fewer". This is the
    difference of the two values as they are shown, unless these are equal."""
    if part == "tokens":
        change = (round(measured, 2) - round(predicted, 2)) or measured - predicted
        return f"{token_words(abs(change))} {'more' if change > 0 else 'fewer'}"
    change = (as_shown(measured) - as_shown(predicted)) or measured - predicted
    return f"{time_words(abs(change))} {'more' if change > 0 else 'less'}"


# -- how a tree was chosen -------------------------------------------------------------------------


def rates_words(source: str) -> str:
    """What an acceptance vector was counted on. For "recorded prose", this is "from acceptance
    rates counted on prose"."""
    _, _, kind = source.partition(" ")
    return f"from acceptance rates{f' counted on {text_words(kind)}' if kind else ''}"


def planned_words(
    how: str,
    source: str,
    clock: str = "",
    limit: tuple[int, int] | None = None,
    *,
    slower: bool = False,
) -> str:
    """A planned tree. how: the words of its shape. source: see `rates_words`. clock: the name of
    the simulated machine that it was planned for; empty for this machine. limit: the most nodes
    here and those of the best tree, if it has more. slower: whether it is predicted to be slower
    than plain decoding."""
    words = how.replace("this machine", clock) if clock else how
    if limit:
        most, best = limit
        words += f", limited to {most} nodes here ({best} would be best)"
    if slower:
        words += " (predicted to be slower than plain decoding)"
    return f"{words}, {rates_words(source)}"


def rule_words(rule: str) -> str:
    """By which rule a planned chain or tree was chosen among those that are nearly as fast as the
    fastest. rule: "chains", "trees", or "" if there is no such rule."""
    within = f"within {SLACK * 100:g}% of the fastest"
    return {
        "": "",
        "chains": f"among chains {within}, the longest",
        "trees": f"among trees {within}, the one with the most expected tokens per step",
    }[rule]


# -- the draft of a loaded pair --------------------------------------------------------------------


CLEARLY = 1.1  # a prediction from a quick measurement is often wrong by a tenth


def copy_words(numbers: str, speedup: float) -> str:
    """What is predicted of a draft that is a copy of the target in `numbers`. speedup: over plain
    decoding, at temperature 0."""
    if speedup < 1 / CLEARLY:
        compared = "slower than"
    else:
        compared = "faster than" if speedup > CLEARLY else "about as fast as"
    return (
        f"on this machine a copy of the large model in {numbers} is predicted to be {compared} "
        f"plain decoding: {speedup:.1f}x at temperature 0, from a quick measurement. A run shows "
        "whether it is"
    )
