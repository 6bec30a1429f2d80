"""The words of the experiment `chain`: where trees are faster than chains. Speeds are divided by
that of the tuned chain, and plotted against how often the draft's first guess is accepted."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sequoia.experiments.chain import CHAIN, LANES, STOPPING, TREE
from sequoia.experiments.result import At, Estimate, ExperimentResult, Ratio, Row
from sequoia.planning.named_profiles import machine_name, named_profile
from ui.experiments.words.view import (
    CLEARLY,
    Axis,
    Column,
    Series,
    Words,
    clearly,
    grouped,
    point,
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


def _columns(_label: str) -> Iterator[Column]:
    yield Column("machine", "machine")
    yield Column("kind", "texts")
    yield Column("temperature", "temperature")
    yield Column("draft", "draft")
    yield Column("first", "first guess accepted", "predicted")
    yield Column("cost", f"time of a pass over {WIDE} nodes / over 1 node", "simulated")
    yield Column("nodes", "tuned chain, nodes", "predicted")
    yield Column("tree", "planned tree: nodes, levels, max children", "predicted")
    stop = "stopping chain: max nodes, lowest draft probability (0: never stops)"
    yield Column("stop", stop, "predicted")
    yield from (Column(lane, f"{_name(lane)}: speed-up", "simulated") for lane in LANES)


@dataclass(frozen=True)
class _Setting:
    """One machine with one kind of prompt, temperature and draft. rows: by lane. ratios: over the
    tuned chain, by lane."""

    machine: str
    at: At
    rows: Mapping[str, Row]
    ratios: Mapping[str, Estimate]

    @property
    def first(self) -> float:
        """How often the draft's first guess is accepted."""
        return float(self.rows[CHAIN].about["first"])

    @property
    def children(self) -> int:
        """The most children of a node of the planned tree."""
        return int(self.rows[TREE].about["children"])

    @property
    def gain(self) -> float:
        """The planned tree's speed divided by the tuned chain's."""
        return self.ratios[TREE].mean

    @property
    def winner(self) -> str:
        lanes = [lane for lane in LANES if lane in self.rows]
        return max(lanes, key=lambda lane: self.rows[lane].figures["speed"].mean)


def _settings(result: ExperimentResult) -> list[_Setting]:
    over_chain = {
        (one.one, *one.at.items()): one.ratio for one in result.ratios if one.other == CHAIN
    }
    found = list[_Setting]()
    for place, rows in grouped(result.rows, lambda row: (*row.at.items(),)).items():
        lanes = {row.lane: row for row in rows}
        ratios = {lane: over_chain[(lane, *place)] for lane in lanes if lane != CHAIN}
        found.append(_Setting(str(rows[0].at["machine"]), rows[0].at, lanes, ratios))
    return found


def _series(result: ExperimentResult) -> Iterator[Series]:
    by_first = sorted(_settings(result), key=lambda one: one.first)
    for machine in dict.fromkeys(str(row.at["machine"]) for row in result.rows):
        here = [one for one in by_first if one.machine == machine]
        for lane in LANES:
            points = [point(one.first, one.ratios[lane]) for one in here if lane in one.ratios]
            method = lane.split()[0]
            if points:
                yield Series(
                    _name(lane), _METHODS.get(method, method), machine_name(machine), (*points,)
                )


def _rows(result: ExperimentResult) -> Iterator[dict[str, Any]]:
    for one in _settings(result):
        stop = one.rows[STOPPING].about
        tree = one.rows[TREE].about
        speeds = {lane: row.figures["speed"].mean for lane, row in one.rows.items()}
        yield {
            "machine": machine_name(one.machine),
            **{axis: one.at[axis] for axis in ("kind", "temperature", "draft")},
            "first": one.first,
            "cost": cost_of_nodes(one.machine),
            "nodes": one.rows[CHAIN].about["nodes"],
            "tree": f"{tree['nodes']}, {tree['levels']}, {tree['children']}",
            "stop": f"{stop['nodes']}, {stop['least']:g}",
            **dict.fromkeys(LANES),
            **speeds,
        }


def _compared(one: Ratio) -> str | None:
    """Only the planned tree is compared."""
    if one.one != TREE:
        return None
    at = one.at
    where = f"{at['kind']}, temperature {at['temperature']:g}, draft {at['draft']}"
    machine = machine_name(str(at["machine"]))
    return f"{_name(one.one)} over {_lower(_name(one.other))}: {machine}, {where}"


def _finding(result: ExperimentResult) -> Iterator[str]:
    found = _settings(result)
    yield _score(result, CHAIN, "the tuned chain")
    yield _score(result, STOPPING, "the chain that stops when unsure")
    yield CLEARLY
    yield _chains(found)
    machines = sorted({one.machine for one in found}, key=cost_of_nodes)
    yield from (_on([one for one in found if one.machine == machine]) for machine in machines)
    yield _by_acceptance(found)


def _score(result: ExperimentResult, other: str, words: str) -> str:
    ratios = [one for one in result.ratios if (one.one, one.other) == (TREE, other)]
    higher, lower = clearly(ratios)
    return (
        f"The planned tree is clearly faster than {words} in {higher} of {len(ratios)} settings, "
        f"and clearly slower in {lower}."
    )


def _chains(found: Sequence[_Setting]) -> str:
    count = sum(one.children <= 1 for one in found)
    single = sum(one.children == 0 for one in found)
    settings = "setting" if count == 1 else "settings"
    plain = f" In {single} of them it has one node, which is plain decoding." if single else ""
    return f"In {count} {settings} the planned tree is itself a chain.{plain}"


def _gain(found: Sequence[_Setting]) -> float:
    return statistics.geometric_mean(one.gain for one in found)


def _on(found: Sequence[_Setting]) -> str:
    """A line about the settings in `found`, which are of one machine."""
    machine = found[0].machine
    (winner, times), *_ = Counter(one.winner for one in found).most_common(1)
    return (
        f"{machine_name(machine)}, where verifying {WIDE} nodes takes "
        f"{cost_of_nodes(machine):.2f} times as long as verifying one: on average the planned tree "
        f"has {_gain(found):.2f}× the speed of the tuned chain. Fastest most often: "
        f"{_lower(_name(winner)).replace(', ', ' with ')} ({times} of {len(found)} settings)."
    )


def _by_acceptance(found: Sequence[_Setting]) -> str:
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
    is_explained = _gain(low) > _gain(high) and _gains_fall_with_cost(found)
    return f"{words} {WHY}." if is_explained else words


def _gains_fall_with_cost(found: Sequence[_Setting]) -> bool:
    """Whether the gain is larger on the machine with the cheapest nodes than on the one with the
    most expensive."""
    costs = {one.machine: cost_of_nodes(one.machine) for one in found}
    cheap, dear = (
        [one for one in found if costs[one.machine] == pick(costs.values())] for pick in (min, max)
    )
    return _gain(cheap) > _gain(dear)


TREE_OR_CHAIN = Words(
    title="Tree vs. tuned chain",
    x=Axis("first", "how often the draft's first guess is accepted"),
    y=Axis("ratio", "speed / tuned chain's speed (simulated)"),
    columns=_columns,
    series=_series,
    rows=_rows,
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
