"""Measures acceptance: counts how often each child is accepted while the engine decodes prompts.

Verifiers that judge whole paths, such as Traversal, need a vector of their own: at a root whose
children are leaves, Traversal accepts exactly as the default verifier does, but in deeper trees
whether it accepts a child also depends on the nodes below the child. Their vector is counted along
the final paths (the accepted path of each step), and then fitted to the tokens per step.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.expected_tokens import fitted
from sequoia.algorithm.progress import Progress, progress_of_part, with_progress
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import StepTrace, emitted_tokens, repetition
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadAcceptance, BadPrompt
from sequoia.measuring.acceptance_by_level import AcceptanceByLevel, Cell, wilson
from sequoia.models.pair import Pair


@dataclass(frozen=True)
class CountedAcceptance:
    """Acceptance counts: at `accepted[k]` of `visited` roots, child k was accepted. repetition: the
    share of repeated 8-grams in the text, 0 to 1, averaged over prompts. by_level: the counts at
    nodes of every depth.

    Teacher-forced counts (acceptance_teacher_forced.py) are sums of probabilities, not whole
    numbers, and every position of the text counts as a root. Their intervals are too wide: a
    probability varies less than a count of 0 or 1.
    """

    accepted: tuple[float, ...]
    visited: int
    repetition: float
    by_level: AcceptanceByLevel = field(default_factory=AcceptanceByLevel)

    @property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """95% confidence interval of each rate (Wilson), as if visited nodes were independent."""
        return tuple(wilson(count, self.visited) for count in self.accepted)

    @property
    def acceptance(self) -> Acceptance:
        if not self.visited:
            raise BadAcceptance(
                "no acceptance rate: 0 nodes with children were visited, at least 1 is needed; "
                "decode more tokens with a tree of at least 2 levels"
            )
        return Acceptance(tuple(count / self.visited for count in self.accepted))


def count_acceptance(
    pair: Pair,
    prompts: Iterable[str],
    params: SamplingParams,
    *,
    ranks: int = 16,
    verifier: str = DEFAULT_VERIFIER,
    tree: Tree | None = None,
    progress: Progress = lambda _: None,
) -> CountedAcceptance:
    """Count acceptance while decoding at most `params.max_new_tokens` tokens after each prompt.
    Steps use `tree`, by default a root with `ranks` children. At the end of a run, the tree is cut
    to as many levels as there are tokens left to decode. To count by level, use a tree from
    `counting_tree` (acceptance_by_level.py). The rates are those of the root's children, because
    deeper nodes seldom have that many children. Raises BadPrompt without prompts."""
    prompts = list(prompts)
    tree = tree or Tree.from_branching([ranks])
    if not prompts:
        raise BadPrompt(
            "acceptance is counted while decoding prompts; 0 prompts were given, at least 1 is "
            "needed"
        )
    by_level = AcceptanceByLevel()
    repeated = []
    visited = 0
    for done, prompt in enumerate(prompts):
        steps = run(Decoder(pair, prompt, params.further(done), tree, verifier))
        traces = with_progress(
            steps, params.max_new_tokens, progress_of_part(progress, done, len(prompts))
        )
        by_level += AcceptanceByLevel.fold(traces)
        # all steps, also those for which the draft had nothing; the last has no room for children
        # if one token was left
        visited += len(traces) - (len(traces[-1].tree) == 1)
        repeated.append(repetition(emitted_tokens(traces)))
    root = [by_level.cells.get((0, rank), Cell()) for rank in range(len(tree.children[0]))]
    return CountedAcceptance(
        tuple(cell.accepted for cell in root),
        visited if root else 0,
        statistics.fmean(repeated),
        by_level,
    )


def measure_acceptance(
    pair: Pair, prompts: Iterable[str], params: SamplingParams | None = None, **options: Any
) -> Acceptance:
    """Like `count_acceptance`, with the same `options`, but returns only the acceptance vector."""
    return count_acceptance(pair, prompts, params or SamplingParams(), **options).acceptance


# -- along final paths -----------------------------------------------------------------------------


@dataclass(frozen=True)
class PathAcceptance:
    """acceptance: the vector to plan with. tokens_per_step: the mean over the steps on which
    acceptance was counted. steps: the number of these steps."""

    acceptance: Acceptance
    tokens_per_step: float
    steps: int


def path_acceptance(
    pair: Pair,
    prompts: Iterable[str],
    params: SamplingParams,
    tree: Tree,
    verifier: str,
    usual: Acceptance,
) -> PathAcceptance:
    """Decode at most `params.max_new_tokens` tokens after each prompt with `tree`, and count at
    every node of the final paths which child the path continues with. usual: the vector counted
    with the default verifier; a rank without counts gets its rate from there. Raises BadPrompt if
    no step has the whole tree."""
    steps = list[StepTrace]()
    for number, prompt in enumerate(prompts):
        decoder = Decoder(pair, prompt, params.further(number), tree, verifier)
        # near the end of a run, trees are truncated
        steps += [step for step in run(decoder) if len(step.tree) == len(tree)]
    if not steps:
        raise BadPrompt(
            f"no step used the whole tree of {tree.levels} levels, so no path was counted; give at "
            f"least 1 prompt, with room for at least {tree.levels} new tokens"
        )
    tokens = statistics.fmean(len(step.verdict.path) for step in steps)
    counted = _counted(AcceptanceByLevel.fold(steps), usual)
    return PathAcceptance(fitted(counted, tree, tokens), tokens, len(steps))


def _counted(by_level: AcceptanceByLevel, usual: Acceptance) -> Acceptance:
    """Rates by rank over all depths. A rank without counts takes its rate from `usual`. Every other
    rank is counted only at nodes that have a child of its own rank. The rates come from different
    sets of nodes, so they can sum to more than 1; then they are scaled down to a sum of 1."""
    cells = [by_level.by_rank(rank) for rank in range(len(usual.rates))]
    rates = [
        cell.rate if cell.visits else rate for cell, rate in zip(cells, usual.rates, strict=True)
    ]
    total = max(sum(rates), 1.0)
    return Acceptance(tuple(rate / total for rate in rates))
