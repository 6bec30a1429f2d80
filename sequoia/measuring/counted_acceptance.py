"""Measures acceptance: counts how often each child of a root is accepted while the engine decodes
prompts, by the child's rank (a node's first child has rank 0)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.progress import Progress, progress_of_part, with_progress
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens, repetition
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadAcceptance
from sequoia.models.pair import Pair

Z = 1.959964  # 95% of a normal distribution is within this many standard deviations of the mean


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """(low, high): the 95% confidence interval of a rate (Wilson, 1927). (0, 1) without trials."""
    if not trials:
        return 0.0, 1.0
    rate = successes / trials
    square = Z * Z
    middle = (rate + square / (2 * trials)) / (1 + square / trials)
    half = (
        Z
        / (1 + square / trials)
        * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials))
    )
    low = max(0.0, middle - half)
    high = min(1.0, middle + half)
    # at rates of 0 and 1, rounding could leave the rate itself just outside the interval
    return min(low, rate), max(high, rate)


@dataclass(frozen=True)
class CountedAcceptance:
    """Acceptance counts: at `accepted[k]` of `visited` roots, child k was accepted. repetition: the
    share of repeated 8-grams in the text, 0 to 1, averaged over prompts."""

    accepted: tuple[int, ...]
    visited: int
    repetition: float

    @property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """95% confidence interval of each rate (Wilson), as if visited nodes were independent."""
        return tuple(wilson(count, self.visited) for count in self.accepted)

    @property
    def acceptance(self) -> Acceptance:
        if not self.visited:
            raise BadAcceptance(
                "no acceptance rate: 0 nodes with children were visited, at least 1 is needed; "
                "decode more tokens"
            )
        return Acceptance(tuple(count / self.visited for count in self.accepted))


def count_acceptance(
    pair: Pair,
    prompts: Iterable[str],
    params: SamplingParams,
    *,
    ranks: int = 16,
    verifier: str = DEFAULT_VERIFIER,
    progress: Progress = lambda _: None,
) -> CountedAcceptance:
    """Count acceptance while decoding at most `params.max_new_tokens` tokens after each prompt. The
    root of every step has `ranks` children."""
    prompts = list(prompts)
    tree = Tree.from_branching([ranks])
    accepted = [0] * ranks
    repeated = []
    visited = 0
    for done, prompt in enumerate(prompts):
        steps = run(Decoder(pair, prompt, params.further(done), tree, verifier))
        traces = with_progress(
            steps, params.max_new_tokens, progress_of_part(progress, done, len(prompts))
        )
        for trace in traces:
            for node in trace.verdict.path[1:]:
                accepted[trace.tree.ranks[node]] += 1
        # all steps, also those for which the draft had nothing; the last has no room for children
        # if one token was left
        visited += len(traces) - (len(traces[-1].tree) == 1)
        repeated.append(repetition(emitted_tokens(traces)))
    return CountedAcceptance(tuple(accepted), visited, statistics.fmean(repeated))
