"""Measures the acceptance vector of a verifier that judges whole paths, such as Traversal. The
vector is counted along the final paths, and then fitted to the tokens per step. The final path of a
step is its accepted path.

At a root whose children are leaves, Traversal accepts exactly as the default verifier does. In
deeper trees, whether it accepts a child also depends on the nodes below the child. So Traversal
needs a vector of its own.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadPrompt
from sequoia.measuring.acceptance_by_level import AcceptanceByLevel
from sequoia.models.pair import Pair
from sequoia.planning.fit_acceptance import fitted


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
