"""Chooses when a chain should stop drafting on a given machine. The choice is based on runs with
long chains."""

from __future__ import annotations

from collections.abc import Iterable

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadPrompt
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_stopping_chain import LongChainStep, StopRule, best_stop_rule

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
