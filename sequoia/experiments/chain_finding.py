"""The finding of the experiment `chain` in words: where trees are faster than chains."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence

from sequoia.experiments.chain_settings import (
    CHAIN,
    RIVALS,
    STOPPING,
    TREE,
    WIDE,
    Setting,
    cost_of_nodes,
)
from sequoia.experiments.finding_words import count_or_none, lines
from sequoia.experiments.intervals import score
from sequoia.planning.named_profiles import machine_name

WHY = (
    "A second child helps only if the first is rejected, and it pays only where one more node "
    "costs little time"
)


def finding(found: Sequence[Setting]) -> str:
    """Several sentences about the settings in `found`, which must not be empty."""
    return lines(
        _score(found, CHAIN, "the tuned chain"),
        _score(found, STOPPING, "the chain that stops when unsure"),
        "“Clearly” means that the 95% interval of the ratio of speeds excludes 1.",
        _chains(found),
        *_by_machine(found),
        _by_acceptance(found),
    )


def _score(found: Sequence[Setting], other: str, words: str) -> str:
    counts = score([setting.ratio(TREE, other) for setting in found])
    return (
        f"The planned tree is clearly faster than {words} in {count_or_none(counts.higher)} of "
        f"{counts.total} settings, and clearly slower in {count_or_none(counts.lower)}."
    )


def _chains(found: Sequence[Setting]) -> str:
    most_children = [one.found[0]["tree"][2] for one in found]
    count = sum(most <= 1 for most in most_children)
    settings = "setting" if count == 1 else "settings"
    single = most_children.count(0)
    plain = f" In {single} of them it has one node, which is plain decoding." if single else ""
    return f"In {count} {settings} the planned tree is itself a chain.{plain}"


def _gain(found: Sequence[Setting]) -> float:
    """The planned tree's speed divided by the tuned chain's, as a geometric mean over settings."""
    return math.exp(statistics.fmean(math.log(one.ratio(TREE, CHAIN).ratio) for one in found))


def _by_machine(found: Sequence[Setting]) -> list[str]:
    """A line for each machine. The machine on which extra nodes cost least comes first."""
    machines = sorted({one.machine for one in found}, key=cost_of_nodes)
    return [_on([one for one in found if one.machine == machine]) for machine in machines]


def _on(found: Sequence[Setting]) -> str:
    """A line about the settings in `found`, which are of one machine."""
    machine = found[0].machine
    (rival, times), *_ = Counter(_winner(one) for one in found).most_common(1)
    return (
        f"{machine_name(machine)}, where verifying {WIDE} nodes takes "
        f"{cost_of_nodes(machine):.2f} times as long as verifying one: on average the planned tree "
        f"has {_gain(found):.2f}× the speed of the tuned chain. Fastest most often: "
        f"{_lower(RIVALS[rival])} ({times} of {len(found)} settings)."
    )


def _by_acceptance(found: Sequence[Setting]) -> str:
    middle = statistics.median(one.first for one in found)
    low = [one for one in found if one.first < middle]
    high = [one for one in found if one.first >= middle]
    if not low:
        return ""
    words = (
        f"Over all machines, the planned tree has {_gain(low):.2f}× the speed of the tuned chain "
        f"where the draft's first guess is accepted less than {middle:.0%} of the time (the "
        f"median), and {_gain(high):.2f}× elsewhere."
    )
    return f"{words} {WHY}." if _is_explained(found, low, high) else words


def _is_explained(
    found: Sequence[Setting], low: Sequence[Setting], high: Sequence[Setting]
) -> bool:
    """Whether the gains agree with WHY: they are larger at low acceptance than at high acceptance,
    and larger on the machine with the cheapest nodes than on the one with the most expensive."""
    cheapest = min(cost_of_nodes(one.machine) for one in found)
    dearest = max(cost_of_nodes(one.machine) for one in found)

    def at(cost: float) -> list[Setting]:
        return [one for one in found if cost_of_nodes(one.machine) == cost]

    return _gain(low) > _gain(high) and _gain(at(cheapest)) > _gain(at(dearest))


def _winner(setting: Setting) -> str:
    speed: Callable[[str], float] = lambda rival: statistics.fmean(setting.speeds(rival))  # noqa: E731
    return max(filter(setting.has, RIVALS), key=speed)


def _lower(label: str) -> str:
    """The label of a rival (a kind of tree with a verifier) for use inside a sentence: "planned
    tree with Traversal"."""
    return label[0].lower() + label[1:].replace(", ", " with ")
