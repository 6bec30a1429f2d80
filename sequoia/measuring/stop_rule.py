"""The fastest stopping chain on a given machine. A stopping chain ends after a token that the draft
is unsure of. Its maximum length, and how sure the draft must be to continue, are chosen from the
results of steps with long chains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadPrompt, BadTrace
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.simulated_step_times import step_seconds

LONG_CHAIN = 16  # nodes


def measured_stop_rule(
    pair: Pair, prompts: Iterable[str], params: SamplingParams, profile: HardwareProfile
) -> StopRule:
    """The rule predicted to be fastest on the machine of `profile`. At most `params.max_new_tokens`
    tokens are decoded after each of `prompts`, with long chains. Raises BadPrompt without
    prompts."""
    prompts = list(prompts)
    if not prompts:
        raise BadPrompt("a stop rule is measured on prompts; 0 were given, at least 1 is needed")
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
    chain counts as accepted if it was accepted in the long chain. Raises BadTrace if `steps` is
    empty."""
    if not steps:
        raise BadTrace(
            "a stop rule is chosen from steps with long chains; 0 were given, at least 1 is needed"
        )
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
