"""Why a run is not faster, and which changes are predicted to help.

Losses of speed-up are computed from the run's measured times. The loss from low acceptance is found
by comparison with an acceptance vector from the paper. The speed-up of a remedy is predicted with a
hardware profile and an acceptance vector that are calibrated to the run. Plain decoding is also
listed as a remedy; its speed-up is 1 by definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.expected_tokens import expected_tokens, fitted
from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.calibrated_profile import calibrated, scaled
from sequoia.diagnosis.diagnosis import Loss, Remedy
from sequoia.diagnosis.smaller_trees import smaller
from sequoia.diagnosis.where_time_went import per_step, per_token
from sequoia.planning.explain_plan import knee
from sequoia.planning.figure_words import size_words, time_words
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import best_plan, predict

# The first rates of a well-matched pair, Llama3-70B-Instruct with 8B-Instruct on CNN (paper:
# appendix E). A run's acceptance is compared with this vector.
WELL_MATCHED = Acceptance((0.7732, 0.1039, 0.0402, 0.0206, 0.0128, 0.0081, 0.0064, 0.0043))
_WHAT_IF = "predicted, what if"


class DiagnosedRun:
    """A run and its tree, with the profile and acceptance vector calibrated to the run.

    step: measured seconds of a mean step, by phase.
    token: the same for one token of plain decoding.
    seconds: the sum of `step`. plain: the sum of `token`.
    tokens: mean tokens per step.
    speedup: measured, over plain decoding.
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
        self.step = per_step(stats, "the run")
        self.token = per_token(plain)
        self.tokens = stats.tokens / stats.steps
        self.plain = sum(self.token.values())
        self.seconds = sum(self.step.values())
        self.speedup = self.tokens * self.plain / self.seconds
        self.profile = calibrated(stats, tree, plain, profile)
        self.acceptance = fitted(acceptance, tree, self.tokens)

    def losses(self) -> Iterator[Loss]:
        """All losses, including those too small to be listed."""
        step = self.step
        token = self.token
        plain_seconds = self.tokens * self.plain  # plain decoding of as many tokens as a step emits
        plain_overhead = token["draft"] + token["overhead"]
        good_tokens = max(expected_tokens(self.tree, WELL_MATCHED), self.tokens)
        yield Loss(
            "acceptance",
            good_tokens * self.plain / self.seconds,
            (
                "higher acceptance. With the paper's acceptance rates for a well-matched pair "
                f"({WELL_MATCHED.rates[0]:.2f} for a first child), a step would "
                f"give {good_tokens:.2f} tokens instead of {self.tokens:.2f}."
            ),
        )
        yield Loss(
            "draft",
            plain_seconds / (self.seconds - step["draft"]),
            (
                f"faster drafting: it takes {time_words(step['draft'])} of a step's "
                f"{time_words(self.seconds)} (measured)."
            ),
        )
        yield Loss(
            "verify",
            plain_seconds / (self.seconds - max(step["verify"] - token["verify"], 0)),
            self._verify_words(),
        )
        yield Loss(
            "overhead",
            plain_seconds / (self.seconds - max(step["overhead"] - plain_overhead, 0)),
            (
                f"less overhead: it takes {time_words(step['overhead'])} per step, compared with "
                f"{time_words(plain_overhead)} for a plain token (measured)."
            ),
        )

    def _verify_words(self) -> str:
        limit = knee(self.profile)
        n = len(self.tree)
        words = (
            f"faster verification: it takes {self.step['verify'] / self.token['verify']:.2f} times "
            "as long as a plain token's pass (measured)"
        )
        return words + (
            f"; from {limit} nodes on, a pass takes at least twice as long as for one node "
            f"(predicted), and the tree has {n}."
            if limit and n >= limit
            else "."
        )

    def remedies(self) -> tuple[Remedy, ...]:
        """The remedies predicted to help, best first. If several remedies have the same tree, only
        the one that `trees` yields first is listed. The tree in use is left out."""
        found: dict[object, Remedy] = {}
        for remedy in (*self.trees(), *self.what_ifs()):
            if remedy.predicted > self.speedup and remedy.tree != self.tree:
                found.setdefault(remedy.tree or remedy.words, remedy)
        return tuple(sorted(found.values(), key=attrgetter("predicted"), reverse=True))

    def trees(self) -> Iterator[Remedy]:
        """Remedies that change only the tree."""
        yield Remedy("Plain decoding", 1.0, Tree.chain(1), "measured")
        fastest = best_plan(self.acceptance, self.profile).tree
        what = "The fastest tree at this run's acceptance"
        yield self._remedy(f"{what}, {size_words(fastest)}", fastest)
        for what, trees in (
            ("A smaller tree of the same shape", smaller(self.tree, self.acceptance)),
            ("Fewer levels", [self.tree.limit(levels) for levels in range(2, self.tree.levels)]),
        ):
            if trees:
                best = max(trees, key=self._speedup)
                yield self._remedy(f"{what}, {size_words(best)}", best)

    def what_ifs(self) -> Iterator[Remedy]:
        """Remedies that keep the tree in use and assume hypothetical models."""
        faster_draft = replace(self.profile, draft_seconds=scaled(self.profile.draft_seconds, 0.5))
        slower_target = replace(
            self.profile, target_seconds=scaled(self.profile.target_seconds, 2.0)
        )
        slower_plain = self.plain + self.token["verify"]
        for words, speedup in (
            (
                "A smaller draft: half the time, the same acceptance",
                self._speedup(self.tree, faster_draft),
            ),
            (
                "A larger target: twice the time, the same acceptance",
                self._speedup(self.tree, slower_target) * slower_plain / self.plain,
            ),
        ):
            yield Remedy(words, speedup, None, _WHAT_IF)

    def _speedup(self, tree: Tree, profile: HardwareProfile | None = None) -> float:
        """Predicted speed-up of `tree` over the measured plain decoding. profile: by default the
        calibrated one."""
        plan = predict(tree, self.acceptance, profile or self.profile)
        return plan.expected_tokens * self.plain / plan.predicted_seconds

    def _remedy(self, words: str, tree: Tree) -> Remedy:
        """The remedy of decoding with `tree` instead."""
        return Remedy(words, self._speedup(tree), tree)
