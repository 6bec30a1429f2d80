"""Is a planned tree faster than a tuned chain (a chain of the length predicted to be fastest)? The
experiment compares these and other decoders on several machines. The models really decode the
steps, but the times are simulated from each machine's profile. The texts that plans are made with
are not used in the comparison.

A pair with a better draft has a copy of the target with noise added to its weights; one with a
worse draft, a noisy copy of the draft. These pairs show acceptance, not times: the copy of the
target is slower than the draft."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.traversal import TRAVERSAL
from sequoia.decoding.dynamic_tree import Dynamic
from sequoia.decoding.replanned_tree import Replanned
from sequoia.decoding.tree_choice import StoppingChain, TreeChoice
from sequoia.errors import BadPair
from sequoia.experiments.experiment import Cell, Entry, Experiment, Places, Settings, Unit
from sequoia.experiments.result import At
from sequoia.experiments.steps_along import DecodedStep, speedup, steps_along, tokens_per_step
from sequoia.experiments.texts import Text, planning_texts, planning_vector, text_of
from sequoia.measuring.stop_rule import LONG_CHAIN, LongChainStep, StopRule, best_stop_rule
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.pair import Pair, PairCache
from sequoia.models.rounded_copy import RoundedLinear
from sequoia.models.tree_forward import TreeModel
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.plan_for_machine import USUAL_LEVELS, best_chain, best_plan

# -- drafts of other quality -----------------------------------------------------------------------


# By name: the model whose weights are used, and the standard deviation of the added noise as a
# multiple of the weight tensor's own.
QUALITIES: dict[str, tuple[str, float]] = {
    "worse": ("draft", 0.3),
    "as it is": ("draft", 0.0),
    "better": ("target", 0.1),
}


def with_draft(pair: Pair, quality: str) -> Pair:
    """`pair` with a draft of the given quality, a key of QUALITIES. Later calls return the same
    pair. Raises BadPair for a better draft if the target is spread over devices or streamed."""
    source, noise = QUALITIES[quality]
    if not noise:
        return pair
    return pair.measured.once(("draft", quality), lambda: _noisy_pair(pair, source, noise))


def _noisy_pair(pair: Pair, source: str, noise: float) -> Pair:
    model = {"draft": pair.draft, "target": pair.target}[source]
    if model.placement:
        raise BadPair(
            "the better draft would be a copy of the target, whose weights are not all on one "
            f"device ({model.placement})"
        )
    draft = TreeModel(
        _noisy(model.hf, noise), f"{model.name} with noise", model.device, model.layer_devices
    )
    draft.vocab = model.vocab
    return replace(pair, draft=use_fast_forward(draft), known=(), measured=PairCache())


def _noisy(model: Any, noise: float) -> Any:
    copied = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in copied.parameters():
            weight.add_(_noise(weight, noise, generator))
        for module in copied.modules():
            if isinstance(module, RoundedLinear):
                weight = module.weight
                module.round(weight + _noise(weight, noise, generator))
    return copied


def _noise(weight: torch.Tensor, noise: float, generator: torch.Generator) -> torch.Tensor:
    drawn = torch.randn(weight.shape, generator=generator)
    return (noise * float(weight.float().std(correction=0)) * drawn).to(weight)


# -- the decoders ----------------------------------------------------------------------------------


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


# -- the experiment --------------------------------------------------------------------------------


VERIFIERS = (SEQUOIA.key, TRAVERSAL.key)
# "DECODER VERIFIER"
LANES = tuple(f"{rival.key} {verifier}" for verifier in VERIFIERS for rival in RIVALS)
CHAIN = f"chain {SEQUOIA.key}"
TREE = f"tree {SEQUOIA.key}"
STOPPING = f"stopping {SEQUOIA.key}"
DIGITS = 5  # decimal places of results


def measure(pair: Pair, unit: Unit) -> Iterator[Entry]:
    """tokens: per step. speed: over plain decoding. first: the acceptance rate of a first child,
    from the acceptance vector that trees are planned with."""
    race = _Race(with_draft(pair, str(unit.at["draft"])), unit)
    for machine in unit.settings["machines"]:
        yield from race.on(machine)


class _Race:
    """All decoders along the text of one prompt. If several machines have the same planned tree or
    chain, it is decoded only once."""

    def __init__(self, pair: Pair, unit: Unit) -> None:
        self._pair = pair
        self._text = text_of(pair, unit)
        self._places = range(0, len(self._text.tokens), unit.settings["stride"])
        self._temperature = self._text.params.temperature
        planning = unit.settings["planning"]
        self._data = planning_data(pair, str(unit.at["kind"]), self._temperature, *planning)
        self._known: dict[tuple[Any, ...], tuple[DecodedStep, ...]] = {}

    def on(self, machine: str) -> Iterator[Entry]:
        profile = named_profile(machine)
        plans = plans_for(self._data, profile)
        # at temperature 0 all verifiers accept the same tokens, so one is enough
        for verifier in VERIFIERS if self._temperature else VERIFIERS[:1]:
            for rival in RIVALS:
                steps = self._steps(rival, verifier, machine, plans)
                yield Entry(
                    lane=f"{rival.key} {verifier}",
                    at={"machine": machine},
                    about=_about(rival, self._data, plans),
                    figures={
                        "tokens": round(tokens_per_step(steps), DIGITS),
                        "speed": round(speedup(steps, profile), DIGITS),
                    },
                )

    def _steps(
        self, rival: Rival, verifier: str, machine: str, plans: Plans
    ) -> tuple[DecodedStep, ...]:
        tree = rival.make(self._data, plans, named_profile(machine), self._temperature)
        # two TreeChoices cannot be compared, so the key contains what their trees depend on
        depends_on = machine if rival.learns else plans.stop
        key = (verifier, tree if isinstance(tree, Tree) else (rival.key, depends_on))
        if key not in self._known:
            made = steps_along(self._pair, self._text, tree, [verifier], self._places)
            self._known[key] = tuple(step for step, _, _ in made)
        return self._known[key]


def _about(rival: Rival, data: PlanningData, plans: Plans) -> At:
    """first, and the plan: nodes, levels and children (the most of a node); or for the stopping
    chain the most nodes and the draft probability below which it stops."""
    first: At = {"first": round(data.acceptance.rates[0], DIGITS)}
    if rival.key == "stopping":
        return {**first, "nodes": plans.stop.max_nodes, "least": plans.stop.min_prob}
    tree = {"chain": plans.chain, "tree": plans.tree}.get(rival.key)
    if tree is None:
        return first
    most = max(map(len, tree.children))
    return {**first, "nodes": len(tree), "levels": tree.levels, "children": most}


def pairs(_settings: Settings, places: Places) -> Iterator[tuple[Cell, Cell]]:
    for lanes in places:
        yield from ((cell, lanes[CHAIN]) for lane, cell in lanes.items() if lane != CHAIN)
    for lanes in places:
        yield lanes[TREE], lanes[STOPPING]


TREE_OR_CHAIN = Experiment(
    name="chain",
    question="When is a tree faster than a chain of the best length, and why?",
    sizes={
        "small": {
            "kinds": ["code"],
            "machines": ["a100-llama-2-7b-graphs", "m1-max-qwen3-8b"],
            "conditions": [[0.6, "as it is"]],
            "prompts": 4,  # of each kind
            "tokens": 48,  # after each prompt
            "stride": 6,  # tokens between the starts of two steps
            "planning": [2, 48],  # texts to plan stopping chains on: number, tokens of each
        },
        "full": {
            "kinds": ["code", "prose"],
            "machines": [
                "l40-llama-3-70b-offloaded",
                "a100-llama-2-7b-graphs",
                "m1-max-qwen3-8b",
                "epyc-2-cores-bundled",
            ],
            "conditions": [
                [0.0, "as it is"],
                [0.6, "as it is"],
                [1.0, "as it is"],
                [0.6, "better"],
                [0.6, "worse"],
            ],
            "prompts": 6,
            "tokens": 48,
            "stride": 6,
            "planning": [4, 48],
        },
    },
    measure=measure,
    pairs=pairs,
    compared="speed",
    version=2,
)
