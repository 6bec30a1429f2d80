"""Is a planned tree faster than a tuned chain (a chain of the length predicted to be fastest)? The
experiment compares these and other decoders on several machines. The models really decode the
steps, but the times are simulated from each machine's profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.traversal import TRAVERSAL
from sequoia.experiments.draft_quality import with_draft
from sequoia.experiments.experiment import Cell, Entry, Experiment, Places, Settings, Unit
from sequoia.experiments.result import At
from sequoia.experiments.rivals import RIVALS, PlanningData, Plans, Rival, planning_data, plans_for
from sequoia.experiments.steps_along import DecodedStep, speedup, steps_along, tokens_per_step
from sequoia.experiments.texts import text_of
from sequoia.models.pair import Pair
from sequoia.planning.named_profiles import named_profile

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
