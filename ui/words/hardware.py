"""Sentences of the Hardware view: about a measurement of this machine, the times of a profile, its
trees, and acceptance by depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from statistics import median
from typing import Any

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.measuring.counted_acceptance import DepthTest
from sequoia.planning.compare_plans import AtBatch
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import Plan
from sequoia.planning.roofline import EFFICIENCY
from sequoia.validate_input import and_list
from ui.words.figures import size_words, time_words

_VISIBLE = 0.02  # smallest relative change of a time that is mentioned


# -- a measurement of this machine -----------------------------------------------------------------


_UNSTEADY = 0.2  # several times what repeated measurements of an idle machine differ by


def change_words(
    before: HardwareProfile | None, after: HardwareProfile, same: float | None = None
) -> str:
    """The time of a one-token pass of the target, and its change since the measurement `before`;
    and a warning if the times of one pass differ much. same: see Measurement in profile_job.py."""
    if same is not None:
        return (
            f"The same as before, within {same:.1%}, by which the times of one pass differ. So the "
            "earlier measurement stays, and with it the trees planned for it."
        )
    seconds = after.verify_seconds(1)
    words = f"A one-token pass takes {time_words(seconds)}"
    if before is None:
        words += ", measured."
    else:
        last = before.verify_seconds(1)
        change = round((seconds / last - 1) * 100)
        was = f"; before, it took {time_words(last)} ({change:+d}%)."
        words += was if change else ", as before."
    spread = median(spread / seconds for _, seconds, spread in after.target_seconds)
    if spread <= _UNSTEADY:
        return words
    return (
        f"{words} The times of one pass differ by {spread:.0%}: other programs seem to have slowed "
        "the measurement down. Measure again when they rest."
    )


# -- the times of a profile ------------------------------------------------------------------------


def mixed_words(times: tuple[str, str], acceptance: str) -> str:
    """A warning that the times are those of other models (target, draft) than the acceptance."""
    target, draft = times
    return (
        f"Hypothetical: the times are those of {target} with {draft}, but the "
        f"acceptance is that of {acceptance}. "
    )


def batch_words(plans: Sequence[AtBatch]) -> str:
    """Where tree, chain and plain decoding cross as the batch grows."""
    chain = _always_from(plans, lambda one: one.tree.tree == one.chain.tree)
    plain = _always_from(plans, lambda one: len(one.tree.tree) == 1)
    words = []
    if chain != plain:
        words.append(f"No tree is faster than the best chain {_from_words(chain)}.")
    if plain:
        words.append(f"Nothing is faster than plain decoding {_from_words(plain)}.")
    if not words:
        words.append(f"A tree is the fastest up to {plans[-1].batch} texts.")
    return " ".join(words) + (
        " Each text has a tree of its own, so B trees of n nodes cost a pass over B × n nodes. "
        "That each text also reads its own KV cache is left out."
    )


def _always_from(plans: Sequence[AtBatch], holds: Callable[[AtBatch], bool]) -> int | None:
    """The batch from which on `holds` is always true, None if it is not for the largest."""
    kept = [*takewhile(holds, reversed(plans))]
    return kept[-1].batch if kept else None


def _from_words(batch: int | None) -> str:
    return "even for one text" if batch == 1 else f"from {batch} texts on"


def level_words(seconds: float) -> str:
    """The overhead per level, which the curve of overhead by nodes does not include."""
    return (
        f"Not in the overhead curve: {time_words(seconds)} per drafted level, "
        "however many nodes it has. It covers sampling the level's tokens and, after the "
        "large model's pass, accepting or rejecting them."
    )


def averaged_words(profile: HardwareProfile) -> str | None:
    """The times of a target pass that planning uses; None if they are nearly equal to those in the
    profile."""
    changed = [
        nodes
        for nodes, seconds, _ in profile.target_seconds
        if abs(profile.verify_seconds(nodes) / seconds - 1) > _VISIBLE
    ]
    if not changed:
        return None
    flat = dict.fromkeys(map(profile.verify_seconds, changed))
    averages = and_list([_average(profile, seconds) for seconds in flat])
    return (
        "More nodes cannot take less time, so a fall in the curve is noise, and planning uses "
        f"an average: {averages}."
    )


def _average(profile: HardwareProfile, seconds: float) -> str:
    """The time of a target pass that planning uses for several sizes in a row."""
    same = [size for size, *_ in profile.target_seconds if profile.verify_seconds(size) == seconds]
    return f"{time_words(seconds)} for {same[0]} to {same[-1]} nodes"


def roofline_words(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures that a visitor's own profile was computed from, without those about offloading.
    parts: the arguments of HardwareProfile.roofline, by name."""
    device = parts["device"]
    share = device.get("efficiency", EFFICIENCY)
    models = "; ".join(
        f"{name}: {parts[part]['parameters']:.3g} weights of {parts[part]['bytes_per_weight']:g} "
        f"bytes, {parts[part]['layers']} layers with {parts[part]['launch_us_per_layer']:g} µs of "
        "launch overhead each"
        for part, name in (("target", "large model"), ("draft", "small model"))
    )
    return (
        f"Roofline from your figures: {device['memory_gb_per_s']:g} GB/s, {device['tflops']:g} "
        f"TFLOP/s at {share:.0%} efficiency; {models}."
    )


# -- its trees -------------------------------------------------------------------------------------


def there_words(name: str, source: str, plan: Plan, label: str) -> str:
    """The best plan for the profile `name`, which another one is compared with. source: of its
    times. label: of the plan's figures."""
    return (
        f"With the times of {name} ({source}) and the same "
        f"acceptance: {size_words(plan.tree)}, {plan.expected_tokens:.2f} tokens in "
        f"{time_words(plan.predicted_seconds)}, {plan.predicted_speedup:.2f}× plain decoding "
        f"({label})."
    )


def largest_words(nodes: int) -> str:
    """A hint that a larger tree may be faster than the best one, which has `nodes` nodes, the
    largest size considered."""
    return (
        f" The best tree has {nodes} nodes, the largest size considered (“Max nodes”); a larger "
        "one may be faster."
    )


# -- acceptance ------------------------------------------------------------------------------------


def counted_words(way: str, texts: str, params: SamplingParams, counts: str) -> str:
    """How an acceptance vector was counted. way, texts, counts: in words, such as "120 roots"."""
    return f"{way}, {texts}, T = {params.temperature:g}, top-p {params.top_p:g}, {counts}"


def depth_words(verdict: DepthTest) -> str:
    """Whether acceptance depends on the rank alone, and the cell that shows it best."""
    if verdict.holds is None:
        return (
            "Too few counts to tell whether acceptance depends on depth; decode more tokens "
            "(the tree must have at least 3 levels)."
        )
    if not verdict.holds:
        return f"The positional assumption fails here: {_cell_words(verdict)}."
    return (
        "No evidence that acceptance depends on depth. The clearest deviation: "
        f"{_cell_words(verdict)}."
    )


def _cell_words(verdict: DepthTest) -> str:
    here, elsewhere = verdict.here, verdict.elsewhere
    child = f"child {verdict.rank + 1}"
    parent = f"a node at depth {verdict.depth}" if verdict.depth else "the root"
    words = (
        f"{child} of {parent} was accepted in {here.accepted:.6g} of {here.visits} visits "
        f"({here.rate:.0%}), and {child} at all other depths in {elsewhere.accepted:.6g} of "
        f"{elsewhere.visits} ({elsewhere.rate:.0%}); p-value {verdict.p_value:.2g}"
    )
    return words + f", corrected for {verdict.compared} tests" * (verdict.compared > 1)
