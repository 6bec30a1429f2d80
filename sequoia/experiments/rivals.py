"""The decoders that the experiment `chain` compares, and how their trees and chains are planned for
a machine. The planning texts are not used in the comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.decoding.dynamic_tree import Dynamic
from sequoia.decoding.replanned_tree import Replanned
from sequoia.decoding.stopping_chain import StoppingChain
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.experiments.continuations import continuation
from sequoia.experiments.planned import planning_vector
from sequoia.experiments.prompts import planning_prompts
from sequoia.experiments.steps_along import steps_along
from sequoia.experiments.text_units import Text
from sequoia.measuring.stop_rule import LONG_CHAIN
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import USUAL_LEVELS, best_chain, best_plan
from sequoia.planning.plan_stopping_chain import LongChainStep, StopRule, best_stop_rule

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
    planning texts for `steps`. tokens: the length of each of them. Later calls with the same
    arguments return the same value."""
    params = SamplingParams(temperature, max_new_tokens=tokens, ignore_eos=True)
    key = ("planning data", kind, temperature, prompts, tokens)
    return pair.measured.once(
        key,
        lambda: PlanningData(
            planning_vector(pair, kind, params),
            tuple(_long_chains(pair, planning_prompts(kind)[:prompts], params)),
        ),
    )


def _long_chains(
    pair: Pair, prompts: Sequence[str], params: SamplingParams
) -> Iterator[LongChainStep]:
    for number, prompt in enumerate(prompts):
        mine = params.further(number)
        text = Text(pair.encode(prompt), continuation(pair, prompt, mine), mine)
        chain = Tree.chain(LONG_CHAIN)
        for _, drafted, verdict in steps_along(pair, text, chain, SEQUOIA.key, STRIDE):
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
    """A decoder. key: its name in results. label: its name in tables. method: its colour is the
    entry `race-METHOD` of assets/colours.json. make: see `Make`. learns: whether it plans new trees
    while decoding, from earlier steps and the times in the machine's profile."""

    key: str
    label: str
    method: str
    make: Make
    learns: bool = False


SHAPES = (
    Rival("chain", "Tuned chain", "chain", lambda _data, plans, _profile, _t: plans.chain),
    Rival(
        "stopping",
        "Chain that stops when unsure",
        "chain",
        lambda _data, plans, _profile, _t: StoppingChain(plans.stop.max_nodes, plans.stop.min_prob),
    ),
    Rival("tree", "Planned tree", SEQUOIA.key, lambda _data, plans, _profile, _t: plans.tree),
    Rival(
        "replanned",
        "Replanned tree",
        "replanned",
        lambda data, _plans, profile, _t: Replanned(data.acceptance, profile, NODES, USUAL_LEVELS),
        learns=True,
    ),
    Rival(
        "dynamic",
        "Dynamic tree",
        "dynamic",
        lambda data, _plans, profile, temperature: Dynamic(
            data.acceptance, profile, temperature, NODES, USUAL_LEVELS
        ),
        learns=True,
    ),
)
