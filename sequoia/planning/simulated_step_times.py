"""What a step would take on a machine, from its profile.

One step verifies n nodes in one target pass, runs one draft pass for each level over the nodes that
have children, and adds the engine's own overhead. Plain decoding is a step of one node. All times
are in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator

from sequoia.algorithm.best_tree import Growth
from sequoia.algorithm.tree import Tree
from sequoia.planning.hardware_profile import HardwareProfile


def step_seconds(tree: Tree, profile: HardwareProfile) -> float:
    """Predicted time of one step with `tree`: one target pass, a draft pass for every level except
    the last, and the overhead."""
    return (
        profile.verify_seconds(len(tree))
        + profile.overhead(len(tree))
        + sum(map(profile.level_seconds, tree.widths))
    )


class StepTimes:
    """Times of one profile, computed once for all sizes, so that the step times of nested trees are
    cheap to add up."""

    def __init__(self, profile: HardwareProfile, nodes: int) -> None:
        self._pass = [profile.verify_seconds(n) + profile.overhead(n) for n in range(1, nodes + 1)]
        self._level = [0.0] + [profile.level_seconds(width) for width in range(1, nodes + 1)]

    def steps(self, growth: Growth) -> Iterator[float]:
        """Seconds of a step with the first 1, 2, ... nodes of `growth`."""
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
