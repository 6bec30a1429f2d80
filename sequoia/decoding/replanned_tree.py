"""Replanned: a tree that is planned again every few steps, from the acceptance counted so far and
the times of a machine."""

from __future__ import annotations

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Verdict
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import best_plan

# These constants were chosen by judgement, like those of dynamic_tree.py.
# weight of the initial rates, as a number of visited nodes; a few steps visit about as many
PRIOR_VISITS = 16.0
MEMORY = 0.99  # share of the counts kept at each step: about the last hundred steps count


class RankCounts:
    """Acceptance by rank (the position among siblings), counted while decoding, with less weight
    for older steps. At first the counts are those expected from the given vector after PRIOR_VISITS
    visited nodes."""

    def __init__(self, acceptance: Acceptance) -> None:
        rates = np.array(acceptance.rates)
        # chance that the child of each rank is tried
        before = 1 - np.concatenate(([0.0], np.cumsum(rates)[:-1]))
        self._start = PRIOR_VISITS * np.maximum(before, 0), PRIOR_VISITS * rates
        self._tried, self._accepted = (counts.copy() for counts in self._start)

    def add(self, tree: Tree, verdict: Verdict) -> None:
        """Count the children that `Verdict.decided` yields for one step, up to the last rank of the
        given vector. The counts decay towards their initial values. So a rank that is no longer
        drafted regains the rate of the given vector, and may be drafted again."""
        for counts, start in zip((self._tried, self._accepted), self._start, strict=True):
            counts += (1 - MEMORY) * (start - counts)
        for child, accepted in verdict.decided(tree):
            if (rank := tree.ranks[child]) < len(self._tried):
                self._tried[rank] += 1
                self._accepted[rank] += accepted

    @property
    def acceptance(self) -> Acceptance:
        """The current estimate, as unconditional rates: the chance that a child is accepted once
        tried, times the chance that it is tried."""
        once_tried = np.divide(
            self._accepted, self._tried, out=np.zeros_like(self._tried), where=self._tried > 1e-12
        ).clip(0, 1)
        reached = np.concatenate(([1.0], np.cumprod(1 - once_tried)[:-1]))
        return Acceptance(tuple((once_tried * reached).tolist()))


class Replanned:
    """A TreeChoice of the fastest tree for the rates counted so far, planned again every `every`
    steps. Use a new Replanned for each run, because it learns from the steps.

    acceptance: the estimate before the first step. profile: the times of the machine for which the
    trees are planned. most, levels: the maximum nodes and levels of a tree. slack: as in
    `best_plan`.
    """

    def __init__(
        self,
        acceptance: Acceptance,
        profile: HardwareProfile,
        most: int = 128,
        levels: int = 16,
        every: int = 8,
        slack: float = 0.0,
    ) -> None:
        self.most = most
        self._profile = profile
        self._levels = levels
        self._every = every
        self._slack = slack
        self._counts = RankCounts(acceptance)
        self._steps = 0
        self.tree = self._plan()

    def next(self, levels: int) -> Tree:
        return self.tree.limit(levels)

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        self._counts.add(tree, verdict)
        self._steps += 1
        if self._steps % self._every == 0:
            self.tree = self._plan()

    @property
    def acceptance(self) -> Acceptance:
        """The current estimate."""
        return self._counts.acceptance

    def _plan(self) -> Tree:
        return best_plan(self.acceptance, self._profile, self.most, self._levels, self._slack).tree
