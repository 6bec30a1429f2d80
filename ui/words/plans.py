"""Sentences about plans: why a tree is the best, and why a run was not as fast as predicted."""

from __future__ import annotations

import math

from sequoia.algorithm.step_trace import PHASES
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import CheckedPrediction
from sequoia.planning.compare_plans import fastest, one_more_level, runner_up
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import Plan, SpeedupGrid
from sequoia.planning.simulated_step_times import phases
from sequoia.saved_files.race_results import PARTS
from sequoia.validate_input import and_list
from ui.words.figures import as_shown, size_words, time_words, token_words

_SAME = 1e-9  # numbers of tokens per step this close count as equal
_ACTIVITY = {"draft": "drafting", "verify": "verifying", "overhead": "overhead"}


def why(grid: SpeedupGrid, profile: HardwareProfile) -> str:
    """Sentences about the tree of the fastest cell of `grid`, about the best tree with one more
    level, and about the runner-up. The warning of `calibration_words` follows. What `grid` does not
    show is left out."""
    best = fastest(grid)
    words = _best_words(best)
    second = runner_up(grid)
    deeper = one_more_level(grid)
    same = second is not None and deeper is not None and second.tree == deeper.tree
    if deeper:
        rival = (
            _runner_up_words(deeper)
            if same
            else f"With one more level, the best tree of {len(best.tree)} nodes"
        )
        words += f". {rival} is {_trade(deeper, best, profile)}"
    elif no_deeper := _no_deeper(best.tree, grid):
        words += f". {no_deeper}"
    if second and not same:
        words += f". {_runner_up_words(second)} is {_trade(second, best, profile)}"
    return f"{words}. {calibration_words(best.tree, profile)}".rstrip()


def calibration_words(tree: Tree, profile: HardwareProfile) -> str:
    """A warning if `tree` is larger than every tree whose time was measured or compared with a
    measurement. Empty otherwise, and for plain decoding."""
    most = profile.calibrated_up_to
    if len(tree) <= max(most, 1):
        return ""
    if profile.source == "simulated" and not most:
        return "These times are simulated; none of them was checked against a measurement."
    if profile.source == "simulated":
        return (
            f"These times are simulated and were compared with measurements up to {most} nodes; "
            f"for {len(tree)} nodes they are extrapolated."
        )
    return (
        f"Times are known up to {most} node{'s' * (most != 1)}; for {len(tree)} nodes they are "
        "extrapolated."
    )


def _runner_up_words(plan: Plan) -> str:
    return f"The runner-up, {size_words(plan.tree)},"


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


def _no_deeper(tree: Tree, grid: SpeedupGrid) -> str:
    """Why allowing one more level gives the same tree. Empty if the grid does not show that, and
    for plain decoding."""
    if len(tree) == 1 or tree.levels >= max(grid.levels):
        return ""
    if tree.levels == len(tree):
        return f"{len(tree)} nodes cannot use more than {len(tree)} levels"
    if tree.levels + 1 in grid.levels:
        return "One more level changes nothing: the best tree of this size does not use it"
    return ""


def _trade(rival: Plan, best: Plan, profile: HardwareProfile) -> str:
    """How fast `rival` is compared with `best`, and what a step gains and loses: "1.32% slower
    (2.28×): a step gives 0.21 more tokens but takes 1.4 ms longer (1.2 ms of it drafting)". Its
    speed-up is left out if it looks the same as that of `best` once both are rounded."""
    tokens = rival.expected_tokens - best.expected_tokens
    seconds = rival.predicted_seconds - best.predicted_seconds
    speedup, other = (f" ({one.predicted_speedup:.2f}×)" for one in (rival, best))
    start = f"{_slower(rival, best)}{speedup if speedup != other else ''}: a step"
    longer = _longer(rival, best, profile)
    if tokens > _SAME and seconds > 0:
        return f"{start} gives {token_words(tokens)} more tokens but takes {longer}"
    if tokens < -_SAME and seconds < 0:
        return f"{start} takes {longer} but gives {token_words(-tokens)} fewer tokens"
    change = "no more tokens" if tokens > -_SAME else f"{token_words(-tokens)} fewer tokens"
    return f"{start} takes {longer} and gives {change}"


def _slower(rival: Plan, best: Plan) -> str:
    share = 1 - rival.predicted_speedup / best.predicted_speedup
    return "practically as fast" if share < 5e-4 else f"{share:.2%} slower"


def _longer(rival: Plan, best: Plan, profile: HardwareProfile) -> str:
    """The difference in step time, with the phase that changes most: "1.4 ms longer (1.2 ms of it
    drafting)". If this phase explains the whole difference: "1.4 ms longer (drafting)". If the
    phase and the step change in opposite directions, the phase's time has a minus sign."""
    mine = phases(rival.tree, profile)
    theirs = phases(best.tree, profile)
    change = {phase: mine[phase] - theirs[phase] for phase in PHASES}
    total = sum(change.values())
    most = max(change, key=lambda phase: abs(change[phase]))
    words = f"{time_words(abs(total))} {'less' if total < 0 else 'longer'}"
    if math.isclose(change[most], total, rel_tol=0.02):
        return f"{words} ({_ACTIVITY[most]})"
    sign = "" if change[most] * total > 0 else "−"
    return f"{words} ({sign}{time_words(abs(change[most]))} of it {_ACTIVITY[most]})"


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
    """Both speed-ups, and the parts that explain the difference: those that raised the speed-up and
    those that lowered it, the largest effect first. measured: the speed-up of the run's verdict, or
    that of the measured step if plain decoding was not timed."""
    predicted = found.predicted.speedup
    alone = found.alone
    base = (
        ", measured"
        if found.plain_measured
        else "; with the measured steps and the profile's time per plain token,"
    )
    start = f"Predicted {predicted:.2f}×{base} {measured:.2f}×"
    parts = sorted(alone, key=lambda part: -abs(_effect(found, part)))
    ordered = [part for part in parts if _matters(found, part)]
    if not ordered:
        return f"{start}: no part alone changes the speed-up by more than 0.5%."
    changes: dict[str, list[str]] = {}
    for part in ordered:
        change = "Raised" if alone[part] > predicted else "Lowered"
        changes.setdefault(change, []).append(_part(found, part))
    return " ".join([f"{start}.", *(f"{how} by {and_list(by)}." for how, by in changes.items())])


def effects(found: CheckedPrediction) -> dict[str, str]:
    """The effect of each part: "1.2 ms more: alone, this would give 1.50× instead of 1.90×"."""
    return {part: _effect_words(found, part) for part in PARTS}


def _effect_words(found: CheckedPrediction, part: str) -> str:
    predicted, measured = _values(found, part)
    if math.isclose(predicted, measured, rel_tol=0.005):
        return "as predicted"
    words = difference(part, predicted, measured)
    if not _matters(found, part):
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


def _effect(found: CheckedPrediction, part: str) -> float:
    """How much `part` alone changes the logarithm of the speed-up."""
    return math.log(found.alone[part] / found.predicted.speedup)


def _matters(found: CheckedPrediction, part: str) -> bool:
    """Whether `part` alone changes the speed-up by more than half a per cent."""
    return abs(_effect(found, part)) > 0.005


def _values(found: CheckedPrediction, part: str) -> tuple[float, float]:
    return getattr(found.predicted, part), getattr(found.measured, part)


def _part(found: CheckedPrediction, part: str) -> str:
    """How a part differs from its prediction: "fewer tokens per step", "slower drafting"."""
    predicted, measured = _values(found, part)
    is_more = measured > predicted
    if part == "tokens":
        return f"{'more' if is_more else 'fewer'} tokens per step"
    if part == "overhead":
        return f"{'more' if is_more else 'less'} overhead"
    what = "plain decoding" if part == "plain" else _ACTIVITY[part]
    return f"{'slower' if is_more else 'faster'} {what}"
