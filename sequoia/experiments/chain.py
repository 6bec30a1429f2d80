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
from itertools import product
from typing import Any

import torch

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.traversal import TRAVERSAL
from sequoia.decoding.dynamic_tree import DynamicChoice
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.errors import BadPair
from sequoia.experiments.experiment import Cell, Entry, Experiment, Places, Settings, Unit, grid
from sequoia.experiments.result import At
from sequoia.experiments.steps_along import speedup, steps_along, tokens_per_step
from sequoia.experiments.texts import KINDS, planning_texts, planning_vector, text_of
from sequoia.measuring.stopping_chain import (
    LONG_CHAIN,
    LongChainStep,
    StoppingChain,
    StopRule,
    best_stop_rule,
)
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
    if not isinstance(model, TreeModel):
        raise BadPair(f"{model.name} has no weights to add noise to")
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
class Plans:
    """What is predicted to be fastest on the machine of `profile`, at `temperature`. acceptance:
    the vector that plans are made with. chain: a chain of 2 to USUAL_LEVELS nodes. tree: a tree of
    up to NODES nodes and USUAL_LEVELS levels. stop: the rule for a chain that stops when the draft
    is unsure."""

    acceptance: Acceptance
    profile: HardwareProfile
    temperature: float
    chain: Tree
    tree: Tree
    stop: StopRule


def plans_for(pair: Pair, unit: Unit, profile: HardwareProfile) -> Plans:
    acceptance = planning_vector(pair, unit.kind, unit.params)
    return Plans(
        acceptance,
        profile,
        unit.params.temperature,
        best_chain(acceptance, profile, USUAL_LEVELS, min_nodes=2).tree,
        best_plan(acceptance, profile, NODES, USUAL_LEVELS).tree,
        best_stop_rule(_long_chains(pair, unit), profile),
    )


def _long_chains(pair: Pair, unit: Unit) -> tuple[LongChainStep, ...]:
    """Steps with a long chain along planning texts: as many texts, of as many tokens, as the
    setting "planning" says. Made once for each pair, kind of text and temperature."""
    prompts, tokens = unit.settings["planning"]
    params = SamplingParams(unit.params.temperature, max_new_tokens=tokens, ignore_eos=True)
    chain = Tree.chain(LONG_CHAIN)

    def make() -> tuple[LongChainStep, ...]:
        return tuple(
            LongChainStep(tuple(drafted.probs), len(verdict.path) - 1)
            for text in planning_texts(pair, unit.kind, params, prompts)
            for _, drafted, verdict in steps_along(
                pair, text, chain, [SEQUOIA.key], range(0, len(text.tokens), STRIDE)
            )
        )

    return pair.measured.once(("long chains", unit.kind, params, prompts), make)


# The kinds of decoder, by their names in results: each makes a fixed tree, or a new TreeChoice for
# one run.
RIVALS: dict[str, Callable[[Plans], TreeChoice]] = {
    "chain": lambda plans: plans.chain,
    "stopping": lambda plans: StoppingChain(plans.stop.max_nodes, plans.stop.min_prob),
    "tree": lambda plans: plans.tree,
    "dynamic": lambda plans: DynamicChoice(
        plans.acceptance, plans.profile, plans.temperature, NODES, USUAL_LEVELS
    ),
}


# -- the experiment --------------------------------------------------------------------------------


VERIFIERS = (SEQUOIA.key, TRAVERSAL.key)
# "DECODER VERIFIER"
LANES = tuple(f"{rival} {verifier}" for verifier in VERIFIERS for rival in RIVALS)
CHAIN = f"chain {SEQUOIA.key}"
TREE = f"tree {SEQUOIA.key}"
STOPPING = f"stopping {SEQUOIA.key}"


def measure(pair: Pair, unit: Unit) -> Iterator[Entry]:
    """tokens: per step, along the text of one prompt. speed: over plain decoding. first: the
    acceptance rate of a first child, from the acceptance vector that trees are planned with."""
    pair = with_draft(pair, str(unit.at["draft"]))
    text = text_of(pair, unit)
    places = range(0, len(text.tokens), unit.settings["stride"])
    for machine in unit.settings["machines"]:
        plans = plans_for(pair, unit, named_profile(machine))
        # at temperature 0 all verifiers accept the same tokens, so one is enough
        for verifier, rival in product(VERIFIERS if plans.temperature else VERIFIERS[:1], RIVALS):
            made = steps_along(pair, text, RIVALS[rival](plans), [verifier], places)
            steps = [step for step, _, _ in made]
            speed = speedup(steps, plans.profile)
            yield Entry(
                lane=f"{rival} {verifier}",
                at={"machine": machine},
                about=_about(rival, plans),
                figures={"tokens": round(tokens_per_step(steps), 5), "speed": round(speed, 5)},
            )


def _about(rival: str, plans: Plans) -> At:
    """first, and the plan: nodes, levels and children (the most of a node); or for the stopping
    chain the most nodes and the draft probability below which it stops."""
    first: At = {"first": round(plans.acceptance.rates[0], 5)}
    if rival == "stopping":
        return {**first, "nodes": plans.stop.max_nodes, "least": plans.stop.min_prob}
    tree = {"chain": plans.chain, "tree": plans.tree}.get(rival)
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
        # stride: tokens between the starts of two steps. planning: texts to plan stopping chains
        # on, their number and the tokens of each.
        "small": grid(
            kinds=["code"],
            prompts=4,
            tokens=48,
            machines=["a100-llama-2-7b-graphs", "m1-max-qwen3-8b"],
            conditions=[[0.6, "as it is"]],
            stride=6,
            planning=[2, 48],
        ),
        "full": grid(
            kinds=KINDS,
            prompts=6,
            tokens=48,
            machines=[
                "l40-llama-3-70b-offloaded",
                "a100-llama-2-7b-graphs",
                "m1-max-qwen3-8b",
                "epyc-2-cores-bundled",
            ],
            conditions=[
                [0.0, "as it is"],
                [0.6, "as it is"],
                [1.0, "as it is"],
                [0.6, "better"],
                [0.6, "worse"],
            ],
            stride=6,
            planning=[4, 48],
        ),
    },
    measure=measure,
    pairs=pairs,
    compared="speed",
    version=2,
)
