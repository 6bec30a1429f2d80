"""The words of the experiment `chain`: where trees are faster than chains. Speeds are divided by
that of the tuned chain, and plotted against how often the draft's first guess is accepted."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from sequoia.experiments.chain import CHAIN, LANES, STOPPING, TREE
from sequoia.experiments.result import Estimate, ExperimentResult, Ratio
from sequoia.planning.named_profiles import machine_name, named_profile
from ui.experiments.words.view import (
    CLEARLY,
    Axis,
    Column,
    Line,
    Place,
    Words,
    clearly,
    places,
)

RIVALS = {
    "chain": "Tuned chain",
    "stopping": "Chain that stops when unsure",
    "tree": "Planned tree",
    "replanned": "Replanned tree",
    "dynamic": "Dynamic tree",
}
_METHODS = {"stopping": "chain", "tree": "sequoia"}  # if it is not the decoder itself
WIDE = 16  # nodes of the target pass whose time shows what extra nodes cost
WHY = (
    "A second child helps only if the first is rejected, and it pays only where one more node "
    "costs little time"
)


def _name(lane: str) -> str:
    """For example "Planned tree, Traversal"."""
    rival, verifier = lane.split()
    return RIVALS[rival] + (", Traversal" if verifier == "traversal" else "")


def _lower(words: str) -> str:
    return words[0].lower() + words[1:]


def cost_of_nodes(machine: str) -> float:
    """The time of a target pass over WIDE nodes, divided by that of a pass over one node."""
    profile = named_profile(machine)
    return profile.verify_seconds(WIDE) / profile.verify_seconds(1)


def _about(place: Place, lane: str, *names: str) -> str:
    """The plan of a lane, such as "64, 16, 3"."""
    return ", ".join(f"{place.lanes[lane].about[name]:g}" for name in names)


def _first(place: Place) -> float:
    """How often the draft's first guess is accepted."""
    return float(place.lanes[CHAIN].about["first"])


def _children(place: Place) -> int:
    """The most children of a node of the planned tree."""
    return int(place.lanes[TREE].about["children"])


def _speedup(place: Place, lane: str) -> float | None:
    return place.mean(lane, "speed") if lane in place.lanes else None


def _drawn(result: ExperimentResult) -> Iterator[tuple[Line, Estimate]]:
    """Speeds over that of the tuned chain."""
    firsts = {(*place.at.items(),): _first(place) for place in places(result.rows)}
    for one in result.ratios:
        if one.other == CHAIN:
            machine = machine_name(str(one.at["machine"]))
            method = _METHODS.get(one.one.split()[0], one.one.split()[0])
            yield Line(machine, _name(one.one), method, firsts[(*one.at.items(),)]), one.ratio


def _compared(one: Ratio) -> str | None:
    """Only the planned tree is compared."""
    if one.one != TREE:
        return None
    at = one.at
    where = f"{at['kind']}, temperature {at['temperature']:g}, draft {at['draft']}"
    machine = machine_name(str(at["machine"]))
    return f"{_name(one.one)} over {_lower(_name(one.other))}: {machine}, {where}"


def _finding(result: ExperimentResult) -> Iterator[str]:
    found = places(result.rows)
    names = sorted({str(one.at["machine"]) for one in found}, key=cost_of_nodes)
    machines = {name: [one for one in found if one.at["machine"] == name] for name in names}
    yield _score(result, CHAIN, "the tuned chain")
    yield _score(result, STOPPING, "the chain that stops when unsure")
    yield CLEARLY
    yield _chains(found)
    yield from (_on(name, some) for name, some in machines.items())
    yield _by_acceptance(found, machines)


def _score(result: ExperimentResult, other: str, words: str) -> str:
    ratios = [one for one in result.ratios if (one.one, one.other) == (TREE, other)]
    higher, lower = clearly(ratios)
    return (
        f"The planned tree is clearly faster than {words} in {higher} of {len(ratios)} settings, "
        f"and clearly slower in {lower}."
    )


def _chains(found: Sequence[Place]) -> str:
    children = [_children(one) for one in found]
    count = sum(most <= 1 for most in children)
    single = children.count(0)
    settings = "setting" if count == 1 else "settings"
    plain = f" In {single} of them it has one node, which is plain decoding." if single else ""
    return f"In {count} {settings} the planned tree is itself a chain.{plain}"


def _gain(found: Iterable[Place]) -> float:
    """The planned tree's speed divided by the tuned chain's, as a geometric mean."""
    return statistics.geometric_mean(
        one.mean(TREE, "speed") / one.mean(CHAIN, "speed") for one in found
    )


def _winner(place: Place) -> str:
    lanes = [lane for lane in LANES if lane in place.lanes]
    return max(lanes, key=lambda lane: place.mean(lane, "speed"))


def _on(machine: str, found: Sequence[Place]) -> str:
    """A line about the settings in `found`, which are of one machine."""
    (winner, times), *_ = Counter(map(_winner, found)).most_common(1)
    return (
        f"{machine_name(machine)}, where verifying {WIDE} nodes takes "
        f"{cost_of_nodes(machine):.2f} times as long as verifying one: on average the planned tree "
        f"has {_gain(found):.2f}× the speed of the tuned chain. Fastest most often: "
        f"{_lower(_name(winner)).replace(', ', ' with ')} ({times} of {len(found)} settings)."
    )


def _by_acceptance(found: Sequence[Place], machines: Mapping[str, Sequence[Place]]) -> str:
    """machines: the settings of each machine. That on which extra nodes cost least comes first."""
    middle = statistics.median(map(_first, found))
    low = [one for one in found if _first(one) < middle]
    high = [one for one in found if _first(one) >= middle]
    if not low:
        return ""
    words = (
        f"Over all machines, the planned tree has {_gain(low):.2f}× the speed of the tuned chain "
        f"where the draft's first guess is accepted less than {middle:.0%} of the time (the "
        f"median), and {_gain(high):.2f}× elsewhere."
    )
    cheapest, *_, dearest = (*machines.values(), *machines.values())
    is_explained = _gain(low) > _gain(high) and _gain(cheapest) > _gain(dearest)
    return f"{words} {WHY}." if is_explained else words


TREE_OR_CHAIN = Words(
    title="Tree vs. tuned chain",
    x=Axis("first", "how often the draft's first guess is accepted"),
    y=Axis("ratio", "speed / tuned chain's speed (simulated)"),
    drawn=_drawn,
    columns=(
        Column("machine", lambda place: machine_name(str(place.at["machine"]))),
        Column("texts", lambda place: place.at["kind"]),
        Column("temperature", lambda place: place.at["temperature"]),
        Column("draft", lambda place: place.at["draft"]),
        Column("first guess accepted", _first, "predicted"),
        Column(
            f"time of a pass over {WIDE} nodes / over 1 node",
            lambda place: cost_of_nodes(str(place.at["machine"])),
            "simulated",
        ),
        Column("tuned chain, nodes", lambda place: place.lanes[CHAIN].about["nodes"], "predicted"),
        Column(
            "planned tree: nodes, levels, max children",
            lambda place: _about(place, TREE, "nodes", "levels", "children"),
            "predicted",
        ),
        Column(
            "stopping chain: max nodes, lowest draft probability (0: never stops)",
            lambda place: _about(place, STOPPING, "nodes", "least"),
            "predicted",
        ),
        *(
            Column(f"{_name(one)}: speed-up", partial(_speedup, lane=one), "simulated")
            for one in LANES
        ),
    ),
    compared=_compared,
    finding=_finding,
    note="\n".join(
        (
            "Tuned chain: the chain of the length predicted to be fastest. In the plots, its speed "
            "is 1.",
            "Chain that stops when unsure: ends after a token with a low draft probability.",
            "Planned tree: the tree predicted to be fastest.",
            "Replanned tree: planned again while decoding, from the acceptance counted so far.",
            "Dynamic tree: grown anew at each step, for the text so far.",
            "Traversal: a verifier that tests whole paths. All others use Sequoia's verifier. At "
            "temperature 0 both accept the same tokens, so Traversal is left out (–).",
            "Better draft: the target with some noise in its weights. Worse draft: the draft with "
            "noise in its weights.",
            "A setting is one machine, kind of text, temperature and draft.",
        )
    ),
    source="simulated",
)
