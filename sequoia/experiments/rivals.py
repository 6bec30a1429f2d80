"""The decoders that the experiment `chain` compares, and how their trees and chains are planned for
a machine. The planning texts are not used in the comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.decoding.dynamic_tree import Dynamic
from sequoia.decoding.replanned_tree import Replanned
from sequoia.decoding.tree_choice import StoppingChain, TreeChoice
from sequoia.experiments.planned import planning_vector
from sequoia.experiments.steps_along import steps_along
from sequoia.experiments.texts import Text, planning_texts
from sequoia.measuring.stop_rule import LONG_CHAIN, LongChainStep, StopRule, best_stop_rule
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import USUAL_LEVELS, best_chain, best_plan

NODES = 64  # max nodes of a tree
STRIDE = 3  # each step of `_long_chains` starts this many tokens after the one before


@dataclass(frozen=True)
class PlanningData:
    """What plans are based on, besides a machine's times. acceptance: from `planning_vector`.
    steps: steps with a long chain along the planning texts."""

    acceptance: Acceptance
    steps: tuple[LongChainStep, ...]


def planning_data(
    pair: Pair, kind: str, temperature: float, prompts: int, tokens: int
) -> PlanningData:
    """The data for plans for a pair, a kind of text and a temperature. prompts: the number of
    planning texts for `steps`. tokens: the length of each of them. Made once for each pair and the
    other arguments."""
    params = SamplingParams(temperature, max_new_tokens=tokens, ignore_eos=True)

    def make() -> PlanningData:
        texts = planning_texts(pair, kind, params, prompts)
        steps = (step for text in texts for step in _long_chains(pair, text))
        return PlanningData(planning_vector(pair, kind, params), tuple(steps))

    return pair.measured.once(("planning data", kind, temperature, prompts, tokens), make)


def _long_chains(pair: Pair, text: Text) -> Iterator[LongChainStep]:
    places = range(0, len(text.tokens), STRIDE)
    chain = Tree.chain(LONG_CHAIN)
    for _, drafted, verdict in steps_along(pair, text, chain, [SEQUOIA.key], places):
        yield LongChainStep(tuple(drafted.probs), len(verdict.path) - 1)


@dataclass(frozen=True)
class Plans:
    """What is predicted to be fastest on one machine. chain: a chain of 2 to USUAL_LEVELS nodes.
    tree: a tree of up to NODES nodes and USUAL_LEVELS levels. stop: the rule for a chain that stops
    when the draft is unsure."""

    chain: Tree
    tree: Tree
    stop: StopRule


def plans_for(data: PlanningData, profile: HardwareProfile) -> Plans:
    acceptance = data.acceptance
    return Plans(
        best_chain(acceptance, profile, USUAL_LEVELS, min_nodes=2).tree,
        best_plan(acceptance, profile, NODES, USUAL_LEVELS).tree,
        best_stop_rule(data.steps, profile),
    )


# (PlanningData, plans, profile, temperature) -> a fixed tree, or a new TreeChoice for one run
Make = Callable[[PlanningData, Plans, HardwareProfile, float], TreeChoice]


@dataclass(frozen=True)
class Rival:
    """A kind of decoder. key: its name in results. make: see `Make`. learns: whether it plans new
    trees while decoding, from earlier steps and the times in the machine's profile."""

    key: str
    make: Make
    learns: bool = False


RIVALS = (
    Rival("chain", lambda _data, plans, _profile, _t: plans.chain),
    Rival(
        "stopping",
        lambda _data, plans, _profile, _t: StoppingChain(plans.stop.max_nodes, plans.stop.min_prob),
    ),
    Rival("tree", lambda _data, plans, _profile, _t: plans.tree),
    Rival(
        "replanned",
        lambda data, _plans, profile, _t: Replanned(data.acceptance, profile, NODES, USUAL_LEVELS),
        learns=True,
    ),
    Rival(
        "dynamic",
        lambda data, _plans, profile, temperature: Dynamic(
            data.acceptance, profile, temperature, NODES, USUAL_LEVELS
        ),
        learns=True,
    ),
)
