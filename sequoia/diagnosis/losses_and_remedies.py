"""Why a run is not faster, and which changes are predicted to help.

Losses of speed-up are computed from the run's measured times. The loss from low acceptance is found
by comparison with an acceptance vector from the paper. The speed-up of a remedy is predicted with a
hardware profile and an acceptance vector that are calibrated to the run. Plain decoding is also
listed as a remedy; its speed-up is 1 by definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.expected_tokens import expected_tokens, fitted
from sequoia.algorithm.step_trace import PHASES, DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.calibrated_profile import calibrated, scaled
from sequoia.diagnosis.diagnosis import Change, Loss, Remedy
from sequoia.diagnosis.smaller_trees import smaller
from sequoia.diagnosis.where_time_went import time_breakdown
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import best_plan, predict

# The first rates of a well-matched pair, Llama3-70B-Instruct with 8B-Instruct on CNN (paper:
# appendix E). A run's acceptance is compared with this vector.
WELL_MATCHED = Acceptance((0.7732, 0.1039, 0.0402, 0.0206, 0.0128, 0.0081, 0.0064, 0.0043))


class DiagnosedRun:
    """A run and its tree, with the profile and acceptance vector calibrated to the run.

    costs: of a mean step, and of a token of plain decoding. speedup: over plain decoding.
    """

    def __init__(
        self,
        stats: DecodeStats,
        tree: Tree,
        plain: DecodeStats,
        acceptance: Acceptance,
        profile: HardwareProfile,
    ) -> None:
        self.tree = tree
        self.costs = time_breakdown(stats, plain)
        self.speedup = self.costs.step.speedup
        self.profile = calibrated(self.costs, tree, profile)
        self.acceptance = fitted(acceptance, tree, self.costs.step.tokens)

    @property
    def good_tokens(self) -> float:
        """Tokens per step with the acceptance of a well-matched pair; at least those of the run."""
        return max(expected_tokens(self.tree, WELL_MATCHED), self.costs.step.tokens)

    def losses(self) -> Iterator[Loss]:
        """All losses, including those too small to be listed."""
        without = self.costs.without_losses(self.good_tokens)
        yield Loss("acceptance", without["tokens"])
        for phase in PHASES:
            yield Loss(phase, without[phase])

    def remedies(self) -> tuple[Remedy, ...]:
        """The remedies predicted to help, best first. If several remedies have the same tree, only
        the one that `trees` yields first is listed. The tree in use is left out."""
        found: dict[object, Remedy] = {}
        for remedy in (*self.trees(), *self.what_ifs()):
            if remedy.predicted > self.speedup and remedy.tree != self.tree:
                found.setdefault(remedy.tree or remedy.change, remedy)
        return tuple(sorted(found.values(), key=attrgetter("predicted"), reverse=True))

    def trees(self) -> Iterator[Remedy]:
        """Remedies that change only the tree."""
        yield Remedy("plain", 1.0, Tree.chain(1))
        yield self._remedy("fastest_tree", [best_plan(self.acceptance, self.profile).tree])
        if trees := smaller(self.tree, self.acceptance):
            yield self._remedy("smaller_tree", trees)
        if trees := [self.tree.limit(levels) for levels in range(2, self.tree.levels)]:
            yield self._remedy("fewer_levels", trees)

    def what_ifs(self) -> Iterator[Remedy]:
        """Remedies that keep the tree in use and assume hypothetical models: a draft that takes
        half the time or a target that takes twice the time, with the same acceptance."""
        draft = scaled(self.profile.draft_seconds, 0.5)
        target = scaled(self.profile.target_seconds, 2.0)
        faster_draft = replace(self.profile, draft_seconds=draft)
        slower_target = replace(self.profile, target_seconds=target)
        plain = self.costs.step.plain
        slower_plain = plain + self.costs.token.verify
        yield Remedy("smaller_draft", self._speedup(self.tree, faster_draft))
        speedup = self._speedup(self.tree, slower_target) * slower_plain / plain
        yield Remedy("larger_target", speedup)

    def _speedup(self, tree: Tree, profile: HardwareProfile | None = None) -> float:
        """Predicted speed-up of `tree` over the plain decoding of the run. profile: by default the
        calibrated one."""
        plan = predict(tree, self.acceptance, profile or self.profile)
        return plan.expected_tokens * self.costs.step.plain / plan.predicted_seconds

    def _remedy(self, change: Change, trees: Sequence[Tree]) -> Remedy:
        """The remedy of decoding with the fastest of `trees` instead."""
        best = max(trees, key=self._speedup)
        return Remedy(change, self._speedup(best), best)
