"""A dynamic tree: its shape depends on the text. It grows one level at a time. Each level gets the
children most likely to be accepted, as long as each of them saves at least the time it costs.

How many children a node gets is decided from its draft distribution, before any child is drawn.
Pruning drawn children by their own draft probability would bias the output. A draft probability is
not an acceptance rate. `Calibration` estimates the rate from what was accepted in earlier steps. A
node is worth drafting if it adds at least as many expected tokens as the best static tree emits in
the time that the node costs. A limit on the number of nodes can raise this threshold (see `Costs`).
arXiv 2606.01813 weighs tokens against cost in the same way, for a draft that needs one pass for all
levels.
"""

from __future__ import annotations

import numpy as np
import torch

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_first
from sequoia.algorithm.sampling import Drawn
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Verdict
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import best_plan

# These constants were chosen by judgement; tuning them on the one bundled pair would overfit.

# The maximum number of children of a node. With the bundled pair, a child beyond this rank is
# accepted in fewer than 1 of 200 visits of its parent.
MAX_CHILDREN = 16
PRIOR_VISITS = 8.0  # weight of the prior in each bin, in visits
# Decay of the counts per step: about the last 200 steps count. The rate of a rank that is no longer
# drafted returns to the prior, so the rank gets another chance.
MEMORY = 0.995
# edges of the bins of the draft probability; the bins are finer at both ends
EDGES = np.array([0.003, 0.01, 0.03, 0.07, 0.15, 0.25, 0.4, 0.6, 0.8, 0.9, 0.97])


class Calibration:
    """How often the child of each rank was accepted, counted in bins by a draft probability. For
    rank 0, this is the greatest draft probability at the parent, for rank 1 the second greatest,
    and so on. At temperature 0 it is the probability of the child itself. At other temperatures the
    children are drawn, so it only shows how peaked the distribution is.

    The prior at temperature 0 is the draft probability, as an estimate of how often the child is
    the target's most probable token. At other temperatures, acceptance depends on how close p and q
    are. There the prior is the rank's static acceptance rate.
    """

    def __init__(self, acceptance: Acceptance, greedy: bool) -> None:
        self._rates = np.zeros(MAX_CHILDREN)
        self._rates[: len(acceptance.rates)] = acceptance.rates[:MAX_CHILDREN]
        self._greedy = greedy
        self._visited = np.zeros((MAX_CHILDREN, len(EDGES) + 1))
        self._accepted = np.zeros_like(self._visited)

    def rates(self, probs: np.ndarray) -> np.ndarray:
        """The expected acceptance rate of each rank, (rows, k), non-increasing along k. probs: the
        k greatest probabilities of each distribution, (rows, k)."""
        ranks = np.arange(probs.shape[1])
        bins = np.searchsorted(EDGES, probs)
        prior = probs if self._greedy else self._rates[None, : probs.shape[1]]
        found = (self._accepted[ranks, bins] + PRIOR_VISITS * prior) / (
            self._visited[ranks, bins] + PRIOR_VISITS
        )
        return np.minimum.accumulate(found, axis=1)

    def decay(self) -> None:
        """Reduce the weight of all counts. Call it once a step."""
        self._visited *= MEMORY
        self._accepted *= MEMORY

    def add(self, probs: np.ndarray, accepted: int | None) -> None:
        """Count one node of the accepted path. probs: the draft's k greatest probabilities there,
        (k,), for k drafted children. accepted: the rank of the accepted child, None if there is
        none."""
        ranks = np.arange(len(probs))
        bins = np.searchsorted(EDGES, probs)
        self._visited[ranks, bins] += 1
        if accepted is not None:
            self._accepted[accepted, bins[accepted]] += 1


class Costs:
    """The time that a node and a level cost, as the number of tokens that the best static tree
    emits in that time. node: (most,); entry n - 1 is for adding a node to a tree of n nodes. No
    entry is less than the expected tokens that the last node adds to the best static tree of `most`
    nodes."""

    def __init__(
        self, acceptance: Acceptance, profile: HardwareProfile, most: int, levels: int
    ) -> None:
        plan = best_plan(acceptance, profile, most, levels)
        pace = plan.expected_tokens / plan.predicted_seconds  # tokens per second

        def seconds(n: int) -> float:
            return profile.verify_seconds(n) + profile.overhead(n)

        # The average slope up to twice the size. The time of a pass often stays flat for a few
        # more nodes and then jumps, so the time of just one more node says little.
        slopes = [pace * (seconds(2 * n) - seconds(n)) / n for n in range(1, most + 1)]
        # A tree may reach `most` nodes while further nodes would still be worth their time. Then
        # each node takes the place of another. So a node must add at least as many tokens as the
        # last node that fits.
        self.node = np.maximum(slopes, _worth_of_last(acceptance, most, levels))
        self._level = pace * np.array(
            [0.0, *(profile.level_seconds(width) for width in range(1, most + 1))]
        )

    def level(self, width: int) -> float:
        return float(self._level[width])


def _worth_of_last(acceptance: Acceptance, most: int, levels: int) -> float:
    """The expected tokens that the last node adds to the best static tree of `most` nodes; 0 if
    there is room for the root only."""
    if most == 1 or levels == 1:
        return 0.0
    return best_first(acceptance, most, levels).gains[-1]


class DynamicChoice:
    """A TreeChoice that grows a new tree at every step, of at most `most` nodes and `levels`
    levels. Use a new DynamicChoice for each run, because it learns from the steps.

    acceptance: the acceptance rates assumed before the first step. profile: the times of the
    machine for which the trees are planned. temperature: the run's temperature.
    """

    def __init__(
        self,
        acceptance: Acceptance,
        profile: HardwareProfile,
        temperature: float,
        most: int = 128,
        levels: int = 16,
    ) -> None:
        acceptance = acceptance.smoothed()
        self.most = most
        self._levels = levels
        self.calibration = Calibration(acceptance, temperature == 0)
        self.costs = Costs(acceptance, profile, most, levels)
        self._dynamic_tree: CalibratedTree | None = None

    def next(self, levels: int) -> CalibratedTree:
        self._dynamic_tree = CalibratedTree(
            self.calibration, self.costs, self.most, min(levels, self._levels)
        )
        return self._dynamic_tree

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        if self._dynamic_tree is None:
            return
        self.calibration.decay()
        for node, follower in zip(verdict.path, (*verdict.path[1:], None), strict=True):
            if children := tree.children[node]:
                accepted = None if follower is None else tree.ranks[follower]
                self.calibration.add(self._dynamic_tree.probs[node][: len(children)], accepted)


class CalibratedTree:
    """One step's dynamic tree, sized by calibration and costs. probs: for each node with a draft
    distribution, its greatest probabilities, (k,) in decreasing order."""

    def __init__(self, calibration: Calibration, costs: Costs, most: int, levels: int) -> None:
        self._calibration = calibration
        self._costs = costs
        self._most = most
        self._levels = levels
        self._parents = [-1]
        self._reach = [1.0]  # by node: the chance that the walk reaches it
        self._depth = 0
        self.front: tuple[int, ...] = (0,) if most > 1 and levels > 1 else ()
        self.probs: dict[int, np.ndarray] = {}
        self.tree = Tree.chain(1)

    def grow(self, distributions: torch.Tensor) -> tuple[int, ...]:
        most = min(MAX_CHILDREN, distributions.shape[1])
        probs = distributions.topk(most).values.double().cpu().numpy()  # (front, k)
        rates = self._calibration.rates(probs)
        scores = np.array([self._reach[node] for node in self.front])[:, None] * rates
        counts = self._child_counts(scores)
        self.probs.update(zip(self.front, probs, strict=True))
        first = len(self._parents)
        for row, (node, count) in enumerate(zip(self.front, counts, strict=True)):
            self._parents += [node] * count
            self._reach += scores[row, :count].tolist()
        self._depth += 1
        self.tree = Tree(tuple(self._parents))
        self.front = self._next_front(range(first, len(self._parents)), float(rates[:, 0].mean()))
        return counts

    def see(self, distributions: torch.Tensor, drawn: Drawn) -> None:
        """Does nothing: the tree depends on the drawn tokens only through the draft's probabilities
        after them."""

    def _child_counts(self, scores: np.ndarray) -> tuple[int, ...]:
        """The number of children for each node of `front`. scores: (front, k), the chance that the
        walk reaches each possible child. Children of all rows are added, highest score first, while
        each is worth its time and there is room."""
        used = len(self._parents)
        order = np.argsort(-scores, axis=None, kind="stable")
        order = order[: self._most - used]
        pays_off = scores.ravel()[order] >= self._costs.node[used - 1 : used - 1 + len(order)]
        taken = order if pays_off.all() else order[: int(pays_off.argmin())]
        return tuple(np.bincount(taken // scores.shape[1], minlength=len(scores)).tolist())

    def _next_front(self, nodes: range, rate: float) -> tuple[int, ...]:
        """The nodes of the new level that are worth drafting children for. Empty if the tree may
        not grow any further, or if a draft pass over them is not worth its time. rate: the expected
        acceptance rate of a first child, averaged over the previous `front`."""
        room = self._depth < self._levels - 1 and len(self._parents) < self._most
        front = tuple(
            node
            for node in nodes
            if self._reach[node] * rate >= self._costs.node[len(self._parents) - 1]
        )
        gain = sum(self._reach[node] for node in front) * rate
        return front if room and front and gain >= self._costs.level(len(front)) else ()
