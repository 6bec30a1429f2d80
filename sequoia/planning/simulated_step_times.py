"""Predicts how long a step would take on a machine, from the machine's hardware profile.

A step verifies its n nodes in one target pass. For each level except the last, it runs one draft
pass over the nodes of that level that have children. The engine's own overhead is added. Plain
decoding is a step of one node. All times are in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sequoia.algorithm.best_tree import Growth
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.errors import BadProfile
from sequoia.planning.hardware_profile import MAX_TEXT, HardwareProfile
from sequoia.validate_input import short_text


@dataclass(frozen=True)
class SimulatedStep:
    """Predicted seconds of the parts of one step. levels: of each draft pass, beginning with the
    pass over the root. verify: of the target pass. overhead: of everything else."""

    levels: tuple[float, ...]
    verify: float
    overhead: float

    @property
    def phases(self) -> dict[str, float]:
        """Seconds by phase, as in `StepTrace.seconds`."""
        return {"draft": sum(self.levels), "verify": self.verify, "overhead": self.overhead}


@dataclass(frozen=True)
class SimulatedClock:
    """Gives decoded steps the times that `profile` predicts for them. Only the times are simulated;
    tokens, trees and acceptance are those of the decoded steps.

    name: by default the profile's device. Raises BadProfile for a name that is not text or is too
    long.
    """

    profile: HardwareProfile
    name: str = ""

    def __post_init__(self) -> None:
        given = short_text(self.name, "name", MAX_TEXT, BadProfile).strip()
        name = given or self.profile.device.strip() or "a machine without a name"
        object.__setattr__(self, "name", name)

    def step(self, tree: Tree) -> SimulatedStep:
        """Times of a step that verifies `tree`. A tree of one node is plain decoding."""
        return SimulatedStep(
            tuple(self.profile.draft_seconds_at(width) for width in tree.widths),
            self.profile.verify_seconds(len(tree)),
            self.profile.overhead(len(tree), len(tree.widths)),
        )

    def retimed(self, trace: StepTrace) -> StepTrace:
        """`trace` with simulated times instead of its own, and with the name of this clock. The
        draft times are those of the passes that the final tree needs. Drafting a dynamic tree may
        have taken more passes."""
        step = self.step(trace.tree)
        return replace(trace, seconds=step.phases, level_seconds=step.levels, clock=self.name)


def phases(tree: Tree, profile: HardwareProfile) -> dict[str, float]:
    """Predicted seconds of each phase of one step with `tree`."""
    return SimulatedClock(profile).step(tree).phases


def step_seconds(tree: Tree, profile: HardwareProfile) -> float:
    """Predicted seconds of one step with `tree`."""
    return sum(phases(tree, profile).values())


def speedup(tokens: float, tree: Tree, profile: HardwareProfile) -> float:
    """Predicted speed-up over plain decoding if a step with `tree` emits `tokens` on average."""
    return tokens * profile.plain_seconds / step_seconds(tree, profile)


class StepTimes:
    """Caches the times that one profile predicts for passes over 1 to `nodes` nodes, so that the
    step time of a tree can be updated cheaply after each node that is added to it."""

    def __init__(self, profile: HardwareProfile, nodes: int) -> None:
        # target pass and overhead, by the number of nodes minus 1
        self._pass = [profile.verify_seconds(n) + profile.overhead(n) for n in range(1, nodes + 1)]
        # one drafted level, by the number of nodes in its draft pass
        self._level = [0.0] + [profile.level_seconds(width) for width in range(1, nodes + 1)]

    def steps(self, growth: Growth) -> Iterator[float]:
        """Yields the seconds of a step with the first node of `growth`, with its first two nodes,
        and so on."""
        widths = [0] * (max(growth.depths) + 1)
        has_children = [False] * len(growth)
        drafting = 0.0
        for node, parent in enumerate(growth.parents):
            if node > 0 and not has_children[parent]:
                has_children[parent] = True
                depth = growth.depths[parent]
                widths[depth] += 1
                drafting += self._level[widths[depth]] - self._level[widths[depth] - 1]
            yield self._pass[node] + drafting
