"""A chain that ends after a token that the draft is unsure of: the strongest rival of a tree. Its
maximum length, and how sure the draft must be to continue, are chosen from the results of steps
with long chains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import torch

from sequoia.algorithm.sampling import Drawn
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.algorithm.verifiers.verifier import Verdict
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadTree
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.simulated_step_times import step_seconds
from sequoia.validate_input import number, whole


class StoppingChain:
    """A TreeChoice that drafts a chain of at most `max_nodes` nodes, its root included, at every
    step. A chain ends after its first token whose draft probability is below `min_prob`. With
    `min_prob` 0, every chain has the maximum length, except near the end of a run, where fewer
    tokens may remain.

    Raises BadTree if `max_nodes` is not a whole number from 1 to MAX_NODES, or `min_prob` is not a
    number from 0 to 1.
    """

    def __init__(self, max_nodes: int, min_prob: float) -> None:
        self.most = whole(max_nodes, "max_nodes", 1, MAX_NODES, BadTree)
        self.min_prob = number(min_prob, "min_prob", 0, 1, BadTree)

    def next(self, levels: int) -> ChainWhileSure:
        return ChainWhileSure(min(self.most, levels), self.min_prob)

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        pass


class ChainWhileSure:
    """One step's chain, of at most `max_nodes` nodes. It ends after its first token with a draft
    probability below `min_prob`, if there is one."""

    def __init__(self, max_nodes: int, min_prob: float) -> None:
        self._max_nodes = max_nodes
        self._min_prob = min_prob
        self.tree = Tree.chain(1)
        self.front: tuple[int, ...] = (0,) if max_nodes > 1 else ()

    def grow(self, _distributions: torch.Tensor) -> tuple[int, ...]:
        last = len(self.tree)
        self.tree = Tree.chain(last + 1)
        self.front = (last,) if last + 1 < self._max_nodes else ()
        return (1,)

    def see(self, distributions: torch.Tensor, drawn: Drawn) -> None:
        """Decides whether another token is drafted after the one that was `drawn`."""
        ((token,),) = drawn
        if float(distributions[0, token]) < self._min_prob:
            self.front = ()


# -- which length and which probability ------------------------------------------------------------

LONG_CHAIN = 16  # nodes


def measured_stop_rule(
    pair: Pair, prompts: Iterable[str], params: SamplingParams, profile: HardwareProfile
) -> StopRule:
    """The rule predicted to be fastest on the machine of `profile`. At most `params.max_new_tokens`
    tokens are decoded after each of `prompts`, with long chains."""
    steps = [
        LongChainStep(tuple(q for q in trace.draft_p if q is not None), len(trace.verdict.path) - 1)
        for number, prompt in enumerate(prompts)
        for trace in run(Decoder(pair, prompt, params.further(number), Tree.chain(LONG_CHAIN)))
    ]
    return best_stop_rule(steps, profile)


THRESHOLDS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class LongChainStep:
    """A step with a long chain, from which the results of shorter chains follow. probs: the draft
    probability of each drafted token. accepted: how many of these tokens were accepted."""

    probs: tuple[float, ...]
    accepted: int

    def drafted(self, max_nodes: int, min_prob: float) -> int:
        """The number of tokens drafted if the chain has at most `max_nodes` nodes, its root
        included, and stops after the first token with a probability below `min_prob`."""
        for length, prob in enumerate(self.probs[: max_nodes - 1], 1):
            if prob < min_prob:
                return length
        return min(max_nodes - 1, len(self.probs))


@dataclass(frozen=True)
class StopRule:
    """max_nodes, min_prob: the arguments of `StoppingChain`. predicted_speedup: over plain
    decoding."""

    max_nodes: int
    min_prob: float
    predicted_speedup: float


def best_stop_rule(steps: Sequence[LongChainStep], profile: HardwareProfile) -> StopRule:
    """The rule that would have been fastest on `steps` with the times of `profile`. Of equally fast
    rules, the one with the smallest `max_nodes`, then the smallest `min_prob`. A token of a shorter
    chain counts as accepted if it was accepted in the long chain."""
    longest = max(1, *(len(step.probs) for step in steps)) + 1
    seconds = [step_seconds(Tree.chain(nodes), profile) for nodes in range(1, longest + 1)]
    rules = [
        StopRule(max_nodes, min_prob, _speedup(steps, max_nodes, min_prob, seconds))
        for max_nodes, min_prob in product(range(2, longest + 1), THRESHOLDS)
    ]
    return max(rules, key=lambda rule: rule.predicted_speedup)


def _speedup(
    steps: Sequence[LongChainStep], max_nodes: int, min_prob: float, seconds: Sequence[float]
) -> float:
    """Tokens per second divided by plain decoding's. seconds: the times of a step with 1, 2, ...
    nodes."""
    drafted = [step.drafted(max_nodes, min_prob) for step in steps]
    tokens = sum(
        1 + min(length, step.accepted) for length, step in zip(drafted, steps, strict=True)
    )
    return tokens * seconds[0] / sum(seconds[length] for length in drafted)
