"""The nearest shape that another engine can run, predicted with the planner's own times, and the
settings that ask for it. No engine takes a tree node by node: some take the length of a chain, some
three numbers. Their names were read in November 2026, of the versions given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.tree import Tree
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import Plan, best_chain, best_plan, predict
from sequoia.planning.simulated_step_times import speedup, step_seconds

MOST_NODES = 64
_LONGEST = 16  # nodes of a chain
_STEPS = range(1, 9)
_WIDTHS = (1, 2, 3, 4, 6, 8)
_SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# A log has the rate of first children only. In vectors recorded here, child k, if its earlier
# siblings were rejected, is accepted k^-b times as often as the first, with b about so:
EXPONENTS = (0.7, 0.9, 1.1)
_RANKS = 8


@dataclass(frozen=True)
class EngineShape:
    """The fastest shape of an engine, and its settings. lost: the share of the best tree's
    predicted speed-up that it lacks. forced: how to make the engine accept as often as predicted,
    whatever it drafts, to check the predicted speed; empty if it cannot."""

    engine: str
    version: str
    settings: str
    plan: Plan
    lost: float
    forced: str = ""


@dataclass(frozen=True)
class Planned:
    """Plans for one acceptance vector: the best tree, the best chain, and that of each engine."""

    best: Plan
    chain: Plan
    shapes: tuple[EngineShape, ...]


def vector(first: float, exponent: float = EXPONENTS[1]) -> Acceptance:
    """An acceptance vector with the rate `first`. The rates of later children are a fit."""
    left = 1.0
    rates = []
    for k in range(1, _RANKS + 1):
        rates.append(left * first * k**-exponent)
        left -= rates[-1]
    return Acceptance(tuple(rates))


def planned(acceptance: Acceptance, profile: HardwareProfile) -> Planned:
    """The plans for `acceptance` on the machine of `profile`, of at most MOST_NODES nodes."""
    best = best_plan(acceptance, profile, MOST_NODES)
    chain = best_chain(acceptance, profile, _LONGEST, min_nodes=2)
    beam, (width, steps, size) = _best_beam(acceptance, profile)
    drafted = len(chain.tree) - 1
    chains = (
        ("vLLM", "0.32", f"--speculative-config.num_speculative_tokens {drafted}"),
        ("llama.cpp", "2026-11", f"--spec-draft-n-max {drafted} --spec-draft-p-min 0"),
        ("transformers", "5.23", f"num_assistant_tokens={drafted}, constant schedule"),
    )
    sglang = (
        f"--speculative-num-steps {steps} --speculative-eagle-topk {width} "
        f"--speculative-num-draft-tokens {size}"
    )
    openvino = (
        f"tree_depth={steps}, branching_factor={width}, num_assistant_tokens={max(1, size - 1)}"
    )
    beams = (("SGLang", "0.5", sglang), ("OpenVINO GenAI", "2026.4", openvino))
    shapes = [(about, chain) for about in chains] + [(about, beam) for about in beams]
    rates = [round(acceptance.rates[0] ** k, 3) for k in range(1, drafted + 1)]
    forced = {
        "vLLM": f'"rejection_sample_method": "synthetic", "synthetic_acceptance_rates": {rates}',
        "SGLang": f"SGLANG_SIMULATE_ACC_LEN={beam.expected_tokens:.2f}",
    }
    return Planned(best, chain, tuple(_shape(about, plan, best, forced) for about, plan in shapes))


def as_logged(positions: Sequence[float], profile: HardwareProfile) -> Plan:
    """The chain that a log is of, with the tokens per step that it had (see EngineLog)."""
    tree = Tree.chain(len(positions) + 1)
    tokens = 1 + sum(positions)
    seconds = step_seconds(tree, profile)
    return Plan(tree, tokens, seconds, speedup(tokens, tree, profile))


def break_even(profile: HardwareProfile) -> float | None:
    """The smallest first rate with which a chain is predicted to be faster than plain decoding, to
    a hundredth; None if there is none."""
    rates = (rate / 100 for rate in range(101))
    return next((rate for rate in rates if _pays(rate, profile)), None)


def _pays(rate: float, profile: HardwareProfile) -> bool:
    chain = best_chain(Acceptance((rate,)), profile, _LONGEST, min_nodes=2)
    return chain.predicted_speedup > 1


def _shape(
    about: tuple[str, str, str], plan: Plan, best: Plan, forced: Mapping[str, str]
) -> EngineShape:
    lost = 1 - plan.predicted_speedup / best.predicted_speedup
    return EngineShape(*about, plan, lost, forced.get(about[0], ""))


def _best_beam(
    acceptance: Acceptance, profile: HardwareProfile
) -> tuple[Plan, tuple[int, int, int]]:
    """The fastest tree that a beam can draft, and its width, steps and size."""
    every = (
        (predict(tree, acceptance, profile), (width, steps, size))
        for width, steps in product(_WIDTHS, _STEPS)
        for size, tree in _beam(acceptance, width, steps)
    )
    return max(every, key=lambda found: found[0].predicted_speedup)


def _beam(acceptance: Acceptance, width: int, steps: int) -> Iterator[tuple[int, Tree]]:
    """Trees of several sizes, as a beam drafts them (EAGLE-2): each step drafts `width` children of
    each of the `width` most probable nodes of the level before; of all, the most probable stay."""
    # the ranks on the path to each node, and its probability
    found: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    level = found
    for _ in range(steps):
        children = [
            ((*path, rank), chance * rate)
            for path, chance in level
            for rank, rate in enumerate(acceptance.rates[:width])
        ]
        level = sorted(children, key=lambda one: -one[1])[:width]
        found = found + children
    found = sorted(found, key=lambda one: -one[1])
    for size in _SIZES:
        if size <= len(found):
            yield size, _tree([path for path, _ in found[:size]])


def _tree(paths: list[tuple[int, ...]]) -> Tree:
    order = sorted(paths, key=lambda path: (len(path), path))
    number = {path: node for node, path in enumerate(order)}
    return Tree.from_parents([number.get(path[:-1], -1) if path else -1 for path in order])
